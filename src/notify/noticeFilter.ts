/** Defines which notices a sink takes. */
import { compareLevels, type Notice, type NoticeKind, type NoticeLevel } from '../monitor/events/notice.ts'

/** Rule of a sink for a kind of notice: send it, send it without a sound, or drop it. */
export const noticeRules = ['on', 'silent', 'off'] as const

/** One of them. */
export type NoticeRule = (typeof noticeRules)[number]

/** Which notices a sink takes. */
export interface NoticeFilter {
  /** The least level that it takes; a kind that `events` names is taken at any level. */
  readonly level: NoticeLevel
  readonly events: Readonly<Partial<Record<NoticeKind, NoticeRule>>>
}

/** Returns the rule of a sink for a notice alone, whatever it received before. */
export function ruleFor(filter: NoticeFilter, { kind, level }: Notice): NoticeRule {
  return filter.events[kind] ?? (compareLevels(level, filter.level) < 0 ? 'off' : 'on')
}
