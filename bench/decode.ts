/**
 * Decoding the two bodies that are polled most, 130 markets each, against bare JSON.parse of the same bytes. By hand:
 * `node bench/decode.ts [rounds]`.
 *
 * The bodies are the paper venue's own answers, a second or five apart on its clock. Cold: a decoder that has seen no body.
 * Steady: one decoder over body after body. Times are wall time, parsing included, JSON.parse and decoder in turn; on a
 * busy machine the fastest tenth says more than the median.
 */
import { list } from '../src/api/decode/decode.ts'
import { marketValues } from '../src/api/rows/marketInfoRow.ts'
import { createRowMemo } from '../src/api/rows/rowMemo.ts'
import { copyTicker, ticker } from '../src/api/rows/tickerRow.ts'
import { pollBodies, repeatedPercent } from './bodies.ts'

const rounds = Number(process.argv[2] ?? 600)
const markets = 130
const say = (text: string) => process.stdout.write(`${text}\n`)

type Decode = (body: unknown) => unknown

const identity = 'marketTokenAddress'
const valuesDecoder = (): Decode => {
  const row = createRowMemo({ identity, decode: marketValues })
  return (body) => list(body, '', row)
}
const tickersDecoder = (): Decode => {
  const row = createRowMemo({ identity, decode: ticker, copy: copyTicker })
  return (body) => list(body, '', row)
}

function timed(run: () => unknown): number {
  const startMs = performance.now()
  run()
  return performance.now() - startMs
}

function quantile(times: readonly number[], share: number): number {
  return times.toSorted((one, other) => one - other)[Math.floor(times.length * share)] ?? Number.NaN
}

say(
  `${rounds} rounds, medians (fastest tenth); aim: 2 times JSON.parse cold, 1.5 times steady\n${'route'.padEnd(17)}${'decoder'.padEnd(9)}repeats  kB   parse ms       decode ms      times         decodes/s`,
)
for (const { route, create, everyMs } of [
  { route: '/markets/values', create: valuesDecoder, everyMs: 1_000 },
  { route: '/markets/values', create: valuesDecoder, everyMs: 5_000 },
  { route: '/markets/tickers', create: tickersDecoder, everyMs: 1_000 },
  { route: '/markets/tickers', create: tickersDecoder, everyMs: 5_000 },
]) {
  const bodies = await pollBodies({ route, markets, polls: 24, everyMs })
  const repeats = repeatedPercent(bodies)
  for (const kind of ['cold', 'steady'] as const) {
    const parses: number[] = []
    const decodes: number[] = []
    let decode = create()
    // The first rounds are the compiler's.
    for (let round = -100; round < rounds; round++) {
      const body = bodies[(round + 100) % bodies.length] ?? ''
      if (kind === 'cold') decode = create()
      const parseMs = timed(() => JSON.parse(body))
      const decodeMs = timed(() => decode(JSON.parse(body)))
      if (round < 0) continue
      parses.push(parseMs)
      decodes.push(decodeMs)
    }
    const [parse, parseFast, took, tookFast] = [
      quantile(parses, 0.5),
      quantile(parses, 0.1),
      quantile(decodes, 0.5),
      quantile(decodes, 0.1),
    ]
    const pair = (one: number, other: number) => `${one.toFixed(2)} (${other.toFixed(2)})`.padEnd(15)
    say(
      `${route.padEnd(17)}${kind.padEnd(9)}${`${repeats.toFixed(0)} %`.padEnd(9)}${String(Math.round((bodies[0]?.length ?? 0) / 1000)).padEnd(5)}${pair(parse, parseFast)}${pair(took, tookFast)}${pair(took / parse, tookFast / parseFast)}${(1000 / took).toFixed(0)}`,
    )
  }
}
