/** Words for resting orders and owners of positions, the same in commands and in a chat. Pure. */
import { BY_HAND } from '../domain/accountRecords/operatorName.ts'
import type { Owner } from '../domain/summaries/heldRow.ts'
import type { OwnerKind } from '../domain/summaries/restingRow.ts'
import { formatPercent } from '../protocol/percentText.ts'

/** Names an owner: `eth-trend`, `task 1a2b`, `by hand`, `others`. */
export function ownerText(kind: OwnerKind, name: string): string {
  if (kind === 'hand') return BY_HAND
  if (kind === 'others') return 'others'
  return kind === 'task' ? `task ${name}` : name
}

/** Characters of a task's id behind its kind in a table: `perpd task stop` takes as many. */
const TASK_CHARACTERS = 4

/** The same for a column: a task by its kind and the first characters of its id, `chase:1a2b`. */
export function shortOwner(kind: OwnerKind, name: string): string {
  if (kind !== 'task') return ownerText(kind, name)
  const [task = '', id = ''] = name.split(':')
  return id === '' ? task : `${task}:${id.slice(0, TASK_CHARACTERS)}`
}

/** Names the owners of a position; one that no book and no task knows is another client's. */
export function ownersText(owners: readonly Owner[]): string {
  const names = owners.map(({ kind, name }) => ownerText(kind, name))
  return names.length === 0 ? 'others' : [...new Set(names)].join(', ')
}

/** Hundredths of a basis point of a whole. */
const WHOLE_BPS100 = 1_000_000n

/** Distance of a trigger from the mark in percent, with its sign: `-0.47%`, `+3.20%`. */
export function distanceText(distanceBps100: number): string {
  const text = formatPercent(BigInt(distanceBps100), WHOLE_BPS100)
  return distanceBps100 > 0 ? `+${text}` : text
}

/** Symbols by their pair alone, `ETH/USD`, where all that are shown have one pool of it; else whole. */
export function shortMarkets(symbols: readonly string[]): (symbol: string) => string {
  const pools = Map.groupBy(new Set(symbols), pairOf)
  return (symbol) => ((pools.get(pairOf(symbol))?.length ?? 0) > 1 ? symbol : pairOf(symbol))
}

function pairOf(symbol: string): string {
  return symbol.split(' [')[0] ?? symbol
}
