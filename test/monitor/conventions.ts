/** Prometheus' conventions for names, as `promtool check metrics` has them and a few more, over a text as it is served. */

/** Words that are no base unit where they end a name. */
const otherUnits =
  /_(ms|milliseconds|us|microseconds|ns|minutes|hours|days|kb|mb|kib|mib|percent|bps)(_total)?$/
/** Units that stand at a name's end, before what says its type alone. */
const unit = /_(seconds|bytes|usd|ratio|timestamp)_(?!total$|seconds$)/
/** How a help says the unit that its name ends in. */
const unitWords: Readonly<Record<string, RegExp>> = {
  seconds: /\bseconds\b/,
  bytes: /\bbytes\b/,
  usd: /\bUSD\b|\bUS dollars\b/,
  ratio: /\b0 to 1\b/,
}
/** Labels whose values have no end. */
const unbounded = /^(id|.*_id|tx|tx_hash|hash|account|address|nonce|reason|message)$/
/** Of prom-client, where gauges begin with what they measure. */
const isOurs = (name: string): boolean => name.startsWith('perpd')

/** What a text breaks, a sentence each; empty when it keeps the conventions. */
export function conventionBreaches(text: string): readonly string[] {
  const helps = new Map(
    [...text.matchAll(/^# HELP (\S+) ?(.*)$/gm)].map(([, name = '', help = '']) => [name, help]),
  )
  return [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type = '']) => {
    const samples = [...text.matchAll(/^([a-zA-Z_:]\w*)(?:\{(.*)\})? \S+$/gm)].filter(([, sample = '']) =>
      [name, `${name}_bucket`, `${name}_sum`, `${name}_count`].includes(sample),
    )
    const labels = new Set(
      samples.flatMap(([, , pairs = '']) => [...pairs.matchAll(/(\w+)="/g)].map(([, label = '']) => label)),
    )
    const bounds = samples
      .filter(([, sample = '']) => type === 'histogram' && sample.endsWith('_bucket'))
      .map(([, , pairs = '']) => [pairs.replace(/,?le="[^"]*"/, ''), boundOf(pairs)] as const)
    return [
      ...((helps.get(name) ?? '').trim() === '' ? [`${name} has no help`] : []),
      ...(isOurs(name) && lacksUnit(name, helps.get(name) ?? '') ? [`${name} does not say its unit`] : []),
      ...(type !== 'counter' && name.endsWith('_total') ? [`${name} ends in _total and is a ${type}`] : []),
      ...(type === 'counter' && !name.endsWith('_total') ? [`${name} is a counter without _total`] : []),
      ...(otherUnits.test(name) ? [`${name} has not the base unit`] : []),
      ...(isOurs(name) && unit.test(name) ? [`${name} has its unit not at its end`] : []),
      ...(/^[a-z][a-z0-9_]*$/.test(name) ? [] : [`${name} is no snake_case`]),
      ...[...labels]
        .filter((label) => isOurs(name) && unbounded.test(label))
        .map((label) => `${name} has the unbounded label ${label}`),
      ...([...Map.groupBy(bounds, ([series]) => series).values()].every((each) =>
        grow(each.map(([, le]) => le)),
      )
        ? []
        : [`${name} has buckets that do not grow to +Inf`]),
    ]
  })
}

function lacksUnit(name: string, help: string): boolean {
  const words =
    unitWords[
      name
        .replace(/_total$/, '')
        .split('_')
        .at(-1) ?? ''
    ]
  return words !== undefined && !words.test(help)
}

function boundOf(pairs: string): number {
  const bound = /le="([^"]*)"/.exec(pairs)?.[1]
  return bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound)
}

function grow(bounds: readonly number[]): boolean {
  return (
    bounds.at(-1) === Number.POSITIVE_INFINITY &&
    bounds.every((bound, index) => index === 0 || bound > (bounds[index - 1] ?? bound))
  )
}
