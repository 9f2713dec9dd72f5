from concurrent.futures import ThreadPoolExecutor

import pytest

from tiltmeter.models.transformers import cpu
from tiltmeter.models.transformers.cpu import (
    LOOK_AGAIN,
    ThreadTuner,
    Timing,
    in_lanes,
    multiply_by_product,
    onednn_is_faster,
    product,
    usable_cpus,
)

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


@pytest.fixture
def by_onednn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Products go to oneDNN, whoever made the processor."""
    if not hasattr(torch.ops.mkldnn, "_linear_pointwise"):
        pytest.skip("this torch has no linear layers of oneDNN")
    monkeypatch.setattr(cpu, "onednn_is_faster", lambda: True)


@pytest.mark.usefixtures("by_onednn")
def test_a_product_by_onednn_is_that_of_twice_the_precision():
    generator = torch.Generator().manual_seed(3)

    def numbers(*shape: int) -> object:
        return torch.randn(*shape, generator=generator)

    weight, bias = numbers(100, 64), numbers(100)
    with torch.inference_mode():
        for states in (
            numbers(40, 64),
            numbers(5, 30, 64),
            numbers(30, 5, 64).transpose(0, 1),
            numbers(40, 3, 64)[:, 0],
        ):
            for matrix in (weight, numbers(64, 100).T):
                for added in (bias, None):
                    exact = states.double() @ matrix.double().T + (0 if added is None else added.double())
                    assert torch.allclose(product(states, matrix, added).double(), exact, atol=1e-4, rtol=0)


@pytest.mark.usefixtures("by_onednn")
def test_layers_that_learn_keep_their_gradients():
    layer = torch.nn.Linear(8, 4)
    states = torch.ones(cpu.LEAST_ROWS, 8)
    by_torch = layer(states).sum()
    multiply_by_product(layer)
    assert "forward" in vars(layer)
    layer(states).sum().backward()
    assert torch.equal(layer.weight.grad, torch.full((4, 8), float(cpu.LEAST_ROWS)))
    with torch.inference_mode():
        assert torch.allclose(layer(states).sum(), by_torch)


@pytest.mark.usefixtures("by_onednn")
def test_weights_that_change_later_are_the_ones_that_multiply():
    layer = torch.nn.Linear(8, 4, bias=False)
    multiply_by_product(layer)
    with torch.inference_mode():
        layer.weight.fill_(2.0)
        assert torch.equal(layer(torch.ones(cpu.LEAST_ROWS, 8)), torch.full((cpu.LEAST_ROWS, 4), 16.0))


@pytest.mark.parametrize(
    ("processor", "capability", "answer"),
    [
        ("vendor_id : AuthenticAMD", "AVX512", True),
        ("vendor_id : AuthenticAMD", "AVX2", False),
        ("vendor_id : GenuineIntel", "AVX512", False),
        ("", "AVX512", False),
    ],
)
def test_the_processor_decides_which_library_multiplies(
    processor: str, capability: str, answer: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(cpu, "_processor", lambda: processor)
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
    monkeypatch.setattr(torch.backends.mkl, "is_available", lambda: True)
    assert onednn_is_faster.__wrapped__() is answer


@pytest.mark.parametrize("fails", [AttributeError("no such operator"), RuntimeError("another signature"), None])
def test_a_torch_without_the_function_or_with_another_one_keeps_its_own(
    fails: Exception | None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(cpu, "_processor", lambda: "AuthenticAMD")
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX512")
    monkeypatch.setattr(torch.backends.mkl, "is_available", lambda: True)

    def other(states: object, weight: object, _bias: object) -> object:
        if fails:
            raise fails
        return states @ weight.T  # forgets the bias

    monkeypatch.setattr(cpu, "_by_onednn", other)
    assert onednn_is_faster.__wrapped__() is False
