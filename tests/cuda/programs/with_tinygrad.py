"""tinygrad: elementwise, matrix product, reduction, softmax, a jitted step (a graph), and training."""

from __future__ import annotations

import numpy as np
from tinygrad import Context, Device, Tensor, TinyJit, nn

A, B = np.random.default_rng(0).random((2, 32, 32), np.float32)


def main() -> None:
    assert Device.DEFAULT == "CUDA"
    x, y = Tensor(A), Tensor(B)
    same((x + y * 2).numpy(), A + B * 2)
    same((x @ y).numpy(), A @ B)
    same(x.sum(axis=1).numpy(), A.sum(axis=1))
    powers = np.exp(A - A.max(axis=1, keepdims=True))
    same(x.softmax(axis=1).numpy(), powers / powers.sum(axis=1, keepdims=True))
    same(x.sort(dim=1)[0].numpy(), np.sort(A, axis=1))

    @TinyJit
    def step(given: Tensor) -> Tensor:
        return ((given * 2).relu() @ given).realize()

    for n in range(4):
        same(step(Tensor(A - n).realize()).numpy(), np.maximum((A - n) * 2, 0) @ (A - n))
    train()


def train() -> None:
    """A linear model finds the weights that the data were made with."""
    weights = np.array([[1.0], [-2.0], [0.5], [3.0]], np.float32)
    inputs = Tensor(A.reshape(-1, 4)[:64])
    targets = Tensor(A.reshape(-1, 4)[:64] @ weights)
    layer = nn.Linear(4, 1)
    optimizer = nn.optim.SGD([layer.weight, layer.bias], lr=0.1)
    losses: list[float] = []
    with Context(TRAINING=1):
        for _ in range(8):
            optimizer.zero_grad()
            loss = ((layer(inputs) - targets) ** 2).mean()
            loss.backward()
            optimizer.step()
            losses.append(float(loss.item()))
    assert losses[-1] < losses[0] / 2, losses


def same(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


if __name__ == "__main__":
    main()
    print("done")
