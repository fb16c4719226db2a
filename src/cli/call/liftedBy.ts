/** The way out of a refusal: the command that lifts what refuses, by the refusal's code. */
import { limitRows, limitSetting } from '../../domain/limits/limits.ts'

const halts = 'perpd trading shows what halts it and who releases it; perpd trading active resumes trading'
const pauses = 'it ends by itself; perpd orders shows the order that was refused, perpd explain its cause'

/** Ways out besides those of limits. */
const ways: Readonly<Record<string, string>> = {
  TRADING_HALTED: halts,
  TRADING_REDUCING: halts,
  REFUSED_BEFORE: pauses,
  FAILED_BEFORE: pauses,
  SLOT_BUSY: 'perpd orders --open shows the order; perpd cancel ID takes it back',
  REDUCE_IN_FLIGHT: 'it ends with the order in flight: perpd orders --open',
  NOT_READY: 'perpd status says what it waits for',
  TASK_BUDGET: 'perpd task start with a larger --max-fees, or without it',
  EXITS_PLANNED: 'perpd protect MARKET SIDE moves or removes planned exits',
  SIZE_NOT_WHOLE: 'perpd open with a smaller --size; perpd limits shows what is left of each limit',
  STOP_NEEDED: 'perpd open with --stop-loss PRICE or N%, or with --size in place of --risk',
  NO_BALANCE:
    'perpd balance shows what the wallet holds; perpd open with a smaller --size or more --leverage',
  ID_USED: 'perpd orders shows what the id was used for; repeat the command with another --id',
  UNEXPLAINED: 'perpd discrepancies lists them; perpd discrepancies adopt or ignore settles one',
  POSITION_NOT_SHOWN: 'it ends when the lists agree; if it stays: perpd discrepancies',
  MARKET_NOT_TRUSTED: 'perpd markets trust MARKET --by NAME, once you have compared its facts with the chain',
}

/** Returns the command that lifts what refused with this code, a sentence without its end; undefined: none does. */
export function liftedBy(code: string): string | undefined {
  const known = ways[code]
  if (known !== undefined) return known
  const limits = limitRows.filter(([, { denies }]) => denies.code === code)
  if (limits.length === 0) return undefined
  const names = limits.map(([name]) => `risk.${limitSetting(name)}`).join(', ')
  const loosened = limits.every(([, { tighter }]) => tighter === 'more') ? 'lowered' : 'raised'
  return `perpd limits shows ${names}; once you ${loosened} it in the settings: perpd limits apply --confirm`
}
