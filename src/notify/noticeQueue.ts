/** Bounds the notices that wait for a sink. When the queue is full, the oldest of the lowest level makes room. Pure. */
import { compareLevels, type NoticeLevel } from '../monitor/events/notice.ts'

/** The queue with one more, and what was dropped for it, which may be the newcomer itself. */
export function pushed<T extends { readonly level: NoticeLevel }>(
  queue: readonly T[],
  item: T,
  most: number,
): { readonly queue: readonly T[]; readonly dropped?: T } {
  const all = [...queue, item]
  if (all.length <= most) return { queue: all }
  const dropped = all.reduce((least, each) => (compareLevels(each.level, least.level) < 0 ? each : least))
  return { queue: all.filter((each) => each !== dropped), dropped }
}
