/** Keys of the books' results. Pure. */
import { type PositionSide, sideKeyOf } from '../domain/accountRecords/accountRecord.ts'
import { bookKeyOf } from './rounds.ts'

const dayMs = 86_400_000

/** 00:00 UTC of the day that an instant is in, Unix ms. */
export function dayOf(atMs: number): number {
  return atMs - (atMs % dayMs)
}

/** The key of a strategy's book of a side. */
export function keyOf(strategy: string, side: PositionSide): string {
  return bookKeyOf(strategy, sideKeyOf(side))
}
