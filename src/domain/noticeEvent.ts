/** What became of notices to people outside. */

/** How a notice ended at a sink. */
export const noticeResults = ['sent', 'refused', 'failed'] as const

/** One of them: `refused` by the service, which is not asked again; `failed` after all tries. */
export type NoticeResult = (typeof noticeResults)[number]

/** Notices. `type` is the stable dotted name of the log line. None is told to a sink. */
export type NoticeEvent =
  | {
      readonly type: 'notice.ended'
      readonly sink: string
      readonly kind: string
      readonly result: NoticeResult
      /** Why it was not sent; holds no secret. */
      readonly reason?: string
    }
  /** A full queue dropped one. */
  | { readonly type: 'notice.dropped'; readonly sink: string; readonly kind: string }
