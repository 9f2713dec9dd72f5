"""What people judge: drafts of sentences that they accept or reject, and sentences that they label."""
