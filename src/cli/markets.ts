/** `perpd markets`: where the facts of each market come from, and an operator's word on one. */
import type { MarketStanding } from '../engine/catalogue.ts'
import type { Call } from './command.ts'
import { askMarkets, command } from './daemon.ts'
import { CommandError, exitCodes } from './exit.ts'
import { columns } from './table.ts'

/** Lists the markets that the running daemon knows or is told of, those on which nothing is added first. */
export async function markets({ loaded, flags, out }: Call): Promise<number> {
  const all = (await askMarkets(loaded)).toSorted(
    (one, other) => Number(isOpen(one)) - Number(isOpen(other)) || one.symbol.localeCompare(other.symbol),
  )
  if (flags.has('json')) out(JSON.stringify(all, undefined, 2))
  else
    out(
      columns(
        all.map(({ symbol, state, marketToken, why = '' }) => [symbol, state, marketToken, why]),
        '',
      ),
    )
  return exitCodes.ok
}

function isOpen({ state }: MarketStanding): boolean {
  return state !== 'untrusted' && state !== 'contradicted'
}

/** Trusts a market that is not shipped, or goes on with one in spite of a host that contradicts it. */
export async function trustMarket({ loaded, flags, positionals, out }: Call): Promise<number> {
  const by = flags.get('by')
  if (typeof by !== 'string' || by.trim() === '')
    throw new CommandError('Say who decides: --by YOUR_NAME', exitCodes.error)
  const name = encodeURIComponent(positionals[0] ?? '')
  out(`${await command(loaded, `/api/markets/${name}/trust`, { by: by.trim() })}.`)
  return exitCodes.ok
}
