/** Settings of what is told to people outside (docs/notifications.md). */
import { z } from 'zod'
import { fileBounds } from '../../base/boundedJson.ts'
import { jsonProblem, parseStrict } from '../../base/strictJson.ts'
import { type SinkSettings, secretFields, sinkSettings } from '../../notify/sinkSettings.ts'
import { summaryPlaceholders } from '../../notify/summaryPlaceholders.ts'
import {
  type Format,
  format,
  integer,
  meaning,
  ms,
  type Section,
  seconds,
  setting,
  type Value,
} from '../../protocol/settings/setting.ts'
import { isSafeUrl, pathOrNone, signerUrl } from './formats.ts'

const sinkList = z
  .array(sinkSettings((url) => isSafeUrl(url, false)))
  .refine((sinks) => new Set(sinks.map(({ name }) => name)).size === sinks.length)

/** Sinks, as objects in a file; text of a flag or a variable is JSON: one sink, or a list of them. */
const sinks: Format<readonly SinkSettings[]> = format<SinkSettings[] & Value, readonly SinkSettings[]>({
  expected:
    'a list of sinks of different names, each with type (webhook, ntfy, slack, discord, telegram or email), name and the fields of its type in docs/reference/notifications.md',
  written: sinkList as unknown as z.ZodType<SinkSettings[] & Value>,
  text: z
    .string()
    .transform((text, context) => {
      try {
        const value: unknown = parseStrict(text, fileBounds)
        return Array.isArray(value) ? value : [value]
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error
        context.addIssue(jsonProblem(error))
        return z.NEVER
      }
    })
    .pipe(sinkList) as unknown as z.ZodType<SinkSettings[] & Value, string>,
  list: true,
  hasFields: true,
  locate: (value, locate) =>
    (value as unknown as SinkSettings[]).map((sink) => {
      const files = Object.entries(sink).filter(([field]) => secretFields.some((each) => each === field))
      return { ...sink, ...Object.fromEntries(files.map(([field, path]) => [field, locate(String(path))])) }
    }),
})

const summaryText = meaning(
  format({
    expected: `a text of at most 2000 characters whose placeholders are among ${summaryPlaceholders.join(', ')}`,
    written: z
      .string()
      .max(2_000)
      .refine((text) =>
        [...text.matchAll(/\{(\w*)\}/g)].every(([, name]) =>
          summaryPlaceholders.some((each) => each === name),
        ),
      ),
  }),
  (text) => text || undefined,
)

/** Settings under `notify`. */
export const notify = {
  sinks: setting(
    sinks,
    [],
    'Sinks for notifications of orders, halts and incidents: objects with type, name, level, events, template and the fields of the type (docs/notifications.md). A secret is given by its file. Empty: no notifications.',
  ),
  consoleUrl: setting(
    signerUrl,
    '',
    'Address of the page that messages link to. Empty: the console at control.consoleUrl, where that is set.',
  ),
  maxWaiting: setting(
    integer(1, 10_000),
    200,
    'Most messages that wait for one sink; when it is full, perpd drops the oldest of the lowest level.',
  ),
  summaryHourUtc: setting(
    meaning(integer(-1, 23), (hour) => (hour < 0 ? undefined : hour)),
    -1,
    'Hour (UTC) of the daily summary: trades, PnL, fees, positions and unresolved incidents of the day before. -1: no summary.',
  ),
  summaryTemplate: setting(
    summaryText,
    '',
    `Text of that summary, with ${summaryPlaceholders.map((name) => `{${name}}`).join(', ')}. Empty: the built-in text.`,
  ),
  heartbeatUrlFile: setting(
    pathOrNone,
    '',
    'File with the address of a heartbeat service such as healthchecks. perpd requests it regularly while healthy, and with /fail appended when a fault halted or ended it. Empty: none.',
  ),
  heartbeatSeconds: setting(seconds(5, 86_400), 60, 'Time between two heartbeats, seconds.'),
  timeoutMs: setting(ms(100, 120_000), 10_000, 'Longest wait for the answer of a sink, ms.'),
} satisfies Section
