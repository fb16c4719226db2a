/** Where notices go: what a sink is in the settings, each kind of service with what it needs. Secrets are named by their files. */
import { z } from 'zod'
import { type NoticeKind, noticeKinds, noticeLevels } from '../monitor/events/notice.ts'
import { isSafeRoute, mailFields } from './mailSettings.ts'
import { type NoticeFilter, noticeRules } from './noticeFilter.ts'

/** Placeholders that a template may have. */
const placeholders = ['title', 'text', 'action', 'link', 'level', 'event', 'count'] as const

const file = z.string().min(1).describe('a file that only you can read')

/** An id of Telegram's: a number, written as one or as text. */
const idOf = (form: RegExp) =>
  z.union([z.string().regex(form), z.int().transform(String).pipe(z.string().regex(form))])

const common = {
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]*$/)
    .describe('its name in logs and metrics'),
  level: z.enum(noticeLevels).default('info').describe('lowest level that it receives'),
  events: z
    .partialRecord(z.enum(Object.keys(noticeKinds) as [NoticeKind, ...NoticeKind[]]), z.enum(noticeRules))
    .default({})
    .describe('events by name: on, silent or off, regardless of their level'),
  template: z
    .string()
    .max(2_000)
    .refine((text) =>
      [...text.matchAll(/\{(\w*)\}/g)].every(([, name]) => placeholders.some((each) => each === name)),
    )
    .optional()
    .describe('text of a message, with {title}, {text}, {action}, {link}, {level}, {event}, {count}'),
}

/** Settings of sinks; `accepts` judges an address that is written in them. */
export function sinkSettings(accepts: (url: string) => boolean) {
  const url = z.string().refine(accepts)
  return z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('webhook'), ...common, url, secretFile: file }),
    z.strictObject({
      type: z.literal('ntfy'),
      ...common,
      url: url.default('https://ntfy.sh'),
      topicFile: file,
      tokenFile: file.optional(),
    }),
    z.strictObject({ type: z.literal('slack'), ...common, urlFile: file }),
    z.strictObject({ type: z.literal('discord'), ...common, urlFile: file }),
    z
      .strictObject({
        type: z.literal('telegram'),
        ...common,
        url: url.default('https://api.telegram.org'),
        tokenFile: file,
        chatId: idOf(/^(?:-?\d{1,20}|@\w{5,32})$/),
        topicId: z.int().min(2).optional().describe('topic of a forum: message_thread_id'),
        commandUserIds: z
          .array(idOf(/^\d{1,20}$/))
          .min(1)
          .max(20)
          .optional()
          .describe('people whose commands in this chat perpd carries out; absent: nobody'),
      })
      // Updates name a chat by its number alone.
      .refine(({ chatId, commandUserIds }) => commandUserIds === undefined || !chatId.startsWith('@')),
    z.strictObject({ type: z.literal('email'), ...common, ...mailFields(file) }).refine(isSafeRoute),
  ])
}

/** A sink as it is configured. */
export type SinkSettings = z.infer<ReturnType<typeof sinkSettings>>

/** The settings of a sink that name a file with a secret. */
export const secretFields = ['secretFile', 'topicFile', 'tokenFile', 'urlFile', 'passwordFile'] as const

/** One of them. */
export type SecretField = (typeof secretFields)[number]

/** Which notices a sink takes. A field that is not there is not in the type of the filter either. */
export function filterOf({ level, events }: SinkSettings): NoticeFilter {
  return { level, events: Object.fromEntries(Object.entries(events)) }
}
