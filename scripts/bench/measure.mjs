// Timing helpers: medians of several rounds, and two things measured in turns so that a noisy machine hits both alike.

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** Milliseconds that `work` takes. */
export async function time(work) {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** Median milliseconds of one run of `work` in a loop of `count`, over `rounds` rounds after one round to warm up. */
export async function perCall(work, { count, rounds = 7 }) {
  const loop = async () => {
    for (let i = 0; i < count; i++) await work(i)
  }
  await loop()
  const times = []
  for (let round = 0; round < rounds; round++) times.push((await time(loop)) / count)
  return median(times)
}

/** Medians of `work` and of its `reference`, measured in turns, and the median of their ratios. */
export async function against(work, reference, { rounds = 7, warmup = 1 } = {}) {
  for (let round = 0; round < warmup; round++) {
    await reference()
    await work()
  }
  const values = []
  const references = []
  for (let round = 0; round < rounds; round++) {
    references.push(await time(reference))
    values.push(await time(work))
  }
  return {
    value: median(values),
    reference: median(references),
    ratio: median(values.map((value, round) => value / references[round])),
  }
}
