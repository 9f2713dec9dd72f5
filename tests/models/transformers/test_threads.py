from concurrent.futures import ThreadPoolExecutor

import pytest

from tiltmeter.models.transformers.threads import LOOK_AGAIN, ThreadTuner, Timing, in_lanes, usable_cpus

torch = pytest.importorskip("torch")


class Machine:
    """A simulated machine: how many tokens a second each number of lanes computes, and the CPU each lane gets."""

    def __init__(self, speeds: dict[int, float], share: float) -> None:
        self.speeds, self.share, self.now = speeds, share, 100.0

    def run(self, tuner: ThreadTuner, *, seconds: float, tokens: int = 500) -> list[int]:
        """Keep the lanes busy for some seconds; how many lanes ran in each finished batch."""
        tuner.begin(self.now)
        running: list[Timing] = []
        used: list[int] = []
        until = self.now + seconds
        while self.now < until:
            while len(running) < tuner.lanes:
                took = tokens * tuner.lanes / self.speeds[tuner.lanes]
                running.append(Timing(tokens, tuner.lanes, self.now, self.now + took, took * self.share))
            batch = min(running, key=lambda timing: timing.end)
            running.remove(batch)
            self.now = batch.end
            used.append(batch.lanes)
            tuner.saw(batch)
        return used


def test_on_a_quiet_machine_all_lanes_run_all_the_time():
    machine, tuner = Machine({2: 8000.0, 1: 4000.0}, share=1.0), ThreadTuner(2)
    assert set(machine.run(tuner, seconds=100)) == {2}


def test_on_a_crowded_machine_the_faster_of_the_settings_is_kept():
    machine, tuner = Machine({2: 1500.0, 1: 4000.0}, share=0.4), ThreadTuner(2)
    used = machine.run(tuner, seconds=8)
    assert tuner.lanes == 1
    assert used.count(2) <= 5


def test_a_crowded_machine_where_many_lanes_still_pay_keeps_them():
    machine, tuner = Machine({8: 9000.0, 4: 6000.0, 1: 2000.0}, share=0.6), ThreadTuner(8)
    used = machine.run(tuner, seconds=9)
    assert tuner.lanes == 8
    assert set(used) == {8, 4, 1}


def test_half_the_lanes_are_tried_too():
    machine, tuner = Machine({8: 3000.0, 4: 6000.0, 1: 2000.0}, share=0.3), ThreadTuner(8)
    machine.run(tuner, seconds=9)
    assert tuner.lanes == 4


def test_all_lanes_come_back_some_time_after_the_other_process_has_ended():
    machine, tuner = Machine({2: 1500.0, 1: 4000.0}, share=0.4), ThreadTuner(2)
    machine.run(tuner, seconds=5)
    assert tuner.lanes == 1
    machine.speeds, machine.share = {2: 8000.0, 1: 4000.0}, 1.0
    machine.run(tuner, seconds=LOOK_AGAIN + 2)
    assert tuner.lanes == 2


def test_a_drop_in_speed_is_looked_into_at_once():
    machine, tuner = Machine({2: 8000.0, 1: 4000.0}, share=1.0), ThreadTuner(2)
    machine.run(tuner, seconds=5)
    machine.speeds, machine.share = {2: 1500.0, 1: 4000.0}, 0.3
    machine.run(tuner, seconds=4)
    assert tuner.lanes == 1


def test_trying_fewer_lanes_costs_little_when_it_does_not_pay():
    machine, tuner = Machine({2: 6000.0, 1: 3000.0}, share=0.7), ThreadTuner(2)
    used = machine.run(tuner, seconds=60)
    assert used.count(1) < 0.05 * len(used)


def test_many_short_runs_are_measured_like_a_long_one_without_the_pauses():
    machine, tuner = Machine({2: 1500.0, 1: 4000.0}, share=0.4), ThreadTuner(2)
    for _ in range(10):
        machine.run(tuner, seconds=0.4)
        machine.now += 0.5
    assert tuner.lanes == 1


def test_one_cpu_leaves_nothing_to_choose():
    machine, tuner = Machine({1: 4000.0}, share=0.2), ThreadTuner(1)
    assert set(machine.run(tuner, seconds=30)) == {1}


@pytest.fixture
def two_threads():
    """torch set to two threads, and how many a thread that starts now would get."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    with ThreadPoolExecutor() as pool:
        yield lambda: pool.submit(torch.get_num_threads).result()
    torch.set_num_threads(before)


def test_lanes_answer_everything_with_one_torch_thread_each_and_leave_the_setting_alone(two_threads):
    items = [(number, 1) for number in range(50)]
    found = list(in_lanes(lambda number: (number * number, torch.get_num_threads()), items, tuner=ThreadTuner(3)))
    assert sorted(square for square, _ in found) == [number * number for number in range(50)]
    assert {threads for _, threads in found} == {1}
    assert (torch.get_num_threads(), two_threads()) == (2, 2)


def test_a_caller_who_stops_early_gets_the_thread_setting_back(two_threads):
    results = in_lanes(lambda number: number, [(number, 1) for number in range(50)], tuner=ThreadTuner(2))
    next(results)
    results.close()
    assert (torch.get_num_threads(), two_threads()) == (2, 2)


def test_an_error_in_a_lane_reaches_the_caller():
    with pytest.raises(ZeroDivisionError):
        list(in_lanes(lambda number: 1 // number, [(1, 1), (0, 1), (2, 1)], tuner=ThreadTuner(2)))


def test_no_more_lanes_than_torch_may_use_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        assert usable_cpus() == 1
    finally:
        torch.set_num_threads(before)
