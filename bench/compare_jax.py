#!/usr/bin/env python3
"""Times mixed-precision steps of halfgrad and JAX: one run, alternating, medians.

    bench/compare_jax.py build/cuda/bin --json jax.json
    bench/compare_jax.py build/cpu/bin --device cpu --works S --seconds 0.2   # a smoke test

JAX runs the whole step as one jitted function that reuses the memory of its state (donated buffers):
forward and backward in fp16 from fp32 weights, loss scaling with growth and back-off, clipping,
Adam. A step that overflows is skipped by selecting the old state on the device.
"""

import functools
import json

import amp_works

BETAS, EPS, RATE, INTERVAL = (0.9, 0.999), 1e-8, 1e-3, 2000


def make_step(jax, work):
    jnp = jax.numpy
    tree = jax.tree_util.tree_map
    sizes, batch = amp_works.WORKS[work]
    keys = iter(jax.random.split(jax.random.PRNGKey(0), 2 * len(sizes)))

    def layer(fan_in, fan_out):
        bound = fan_in**-0.5
        return [jax.random.uniform(next(keys), shape, jnp.float32, -bound, bound)
                for shape in ((fan_in, fan_out), (fan_out,))]

    weights = [layer(*pair) for pair in zip(sizes, sizes[1:])]
    zeros = tree(jnp.zeros_like, weights)
    state = dict(weights=weights, m=zeros, v=tree(jnp.copy, zeros),
                 step=jnp.float32(0), scale=jnp.float32(65536), good=jnp.int32(0))
    inputs = jax.random.normal(next(keys), (batch, sizes[0]))
    labels = jax.random.randint(next(keys), (batch,), 0, sizes[-1])

    def scaled_loss(weights, scale):
        x = inputs.astype(jnp.float16)
        for index, (weight, bias) in enumerate(weights):
            x = x @ weight.astype(jnp.float16) + bias.astype(jnp.float16)
            x = jax.nn.relu(x) if index + 1 < len(weights) else x
        chosen = jax.nn.log_softmax(x.astype(jnp.float32))[jnp.arange(batch), labels]
        return -chosen.mean() * scale

    def updated(state, gradients):
        beta1, beta2 = BETAS
        step = state["step"] + 1
        m = tree(lambda m, g: beta1 * m + (1 - beta1) * g, state["m"], gradients)
        v = tree(lambda v, g: beta2 * v + (1 - beta2) * g * g, state["v"], gradients)
        step_size = RATE / (1 - beta1**step)
        rsqrt_correction2 = jax.lax.rsqrt(1 - beta2**step)
        weights = tree(lambda p, m, v: p - step_size * m / (jnp.sqrt(v) * rsqrt_correction2 + EPS),
                       state["weights"], m, v)
        return dict(weights=weights, m=m, v=v, step=step)

    @functools.partial(jax.jit, donate_argnums=0)
    def step(state):
        scale = state["scale"]
        gradients = jax.grad(scaled_loss)(state["weights"], scale)
        finite = jnp.all(jnp.array([jnp.isfinite(g).all()
                                    for g in jax.tree_util.tree_leaves(gradients)]))
        gradients = tree(lambda g: g / scale, gradients)
        norm = jnp.sqrt(sum((g * g).sum() for g in jax.tree_util.tree_leaves(gradients)))
        clip = jnp.minimum(1.0 / (norm + 1e-6), 1.0)
        new = updated(state, tree(lambda g: g * clip, gradients))
        kept = tree(lambda n, o: jnp.where(finite, n, o), new, {key: state[key] for key in new})
        good = jnp.where(finite, state["good"] + 1, 0)
        grows = good == INTERVAL
        scale = jnp.where(finite, jnp.where(grows, scale * 2, scale), scale / 2)
        return dict(kept, scale=scale, good=jnp.where(grows, 0, good))

    return step, state


def jax_samples(work, device, seconds):
    import jax

    on_gpu = device == "cuda"
    jax.config.update("jax_platforms", "cuda" if on_gpu else "cpu")
    step, state = make_step(jax, work)

    def run():
        nonlocal state
        state = step(state)

    samples = amp_works.sample(run, lambda: jax.block_until_ready(state), seconds,
                               20 if on_gpu else 1)
    return dict(samples=samples, jax=jax.__version__, on=jax.devices()[0].device_kind)


def main():
    arguments = amp_works.parse(__doc__)
    if arguments.case:
        print(json.dumps(jax_samples(arguments.case[0], arguments.device, arguments.seconds)))
        return
    times, about = amp_works.measure(__file__, arguments, ["JAX jit"])
    amp_works.report(__file__, arguments, times, about, {})


if __name__ == "__main__":
    main()
