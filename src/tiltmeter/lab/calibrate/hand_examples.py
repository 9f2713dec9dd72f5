def hand_examples(): return ()
