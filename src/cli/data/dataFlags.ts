/** Flags that commands of history share. */
import type { CandleColumn, ColumnMap } from '../../base/candles/candleTable.ts'
import { type CandlePeriod, periodSeconds } from '../../protocol/market.ts'
import type { Call } from '../call/command.ts'
import { wrongValue } from '../call/numberFlags.ts'

const periods = Object.keys(periodSeconds) as CandlePeriod[]
const columnNames: readonly string[] = ['timestamp', 'open', 'high', 'low', 'close', 'symbol']

/** `--period`, or undefined where it is not given. Throws CommandError. */
export function periodFlag(flags: Call['flags']): CandlePeriod | undefined {
  const text = flags.get('period')
  if (text === undefined) return undefined
  const period = periods.find((each) => each === text)
  if (period !== undefined) return period
  throw wrongValue(`--period is ${String(text)}; expected ${periods.join(', ')}.`)
}

/** `--map timestamp=Zeit,open=Kurs`: columns by the names that a file has for them. Throws CommandError. */
export function mapFlag(flags: Call['flags']): ColumnMap | undefined {
  const text = flags.get('map')
  if (text === undefined) return undefined
  const pairs = String(text)
    .split(',')
    .map((pair) => {
      const [, column = '', name = ''] = /^([a-z]+)=(.+)$/.exec(pair) ?? []
      if (columnNames.includes(column)) return [column as CandleColumn, name.trim()] as const
      throw wrongValue(
        `--map has ${pair}; expected COLUMN=NAME with commas between them, COLUMN one of ${columnNames.join(', ')}, as timestamp=Zeit,close=Kurs.`,
      )
    })
  return Object.fromEntries(pairs)
}

/** `--source`, or what stands for it. Throws CommandError. */
export function sourceFlag(flags: Call['flags']): string | undefined {
  const text = flags.get('source')
  if (text === undefined) return undefined
  if (/^[a-z0-9][a-z0-9-]{0,39}$/.test(String(text))) return String(text)
  throw wrongValue(
    `--source is ${String(text)}; expected a name of small letters, digits and dashes, as binance.`,
  )
}
