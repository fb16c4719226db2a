/** `perpd notify test [SINK]`: one test message to each sink, one try each, and what became of it. */
import { defined } from '../../base/defined.ts'
import { systemClock } from '../../base/systemClock.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { linkOf, openPost, openSinks, redactOf } from '../../daemon/notices/notifySinks.ts'
import type { Notice } from '../../monitor/events/notice.ts'
import { tellSink } from '../../notify/notifier.ts'
import { createPostMail } from '../../notify/sendMail.ts'
import type { Call } from '../call/command.ts'
import { columns } from '../output/table.ts'

const notice: Notice = {
  kind: 'test',
  level: 'info',
  cause: 'test',
  text: 'Test message from perpd notify test: notifications arrive here',
}

/** Sends the test messages; exit code 0 when all of them were taken. */
export async function notifyTest({ loaded, positionals, flags, out }: Call): Promise<number> {
  const { config } = loaded
  const [named] = positionals
  const sinks = openSinks(config).filter(({ settings }) => named === undefined || settings.name === named)
  if (sinks.length === 0) {
    const names = config.notify.sinks.map(({ name }) => name).join(', ')
    throw new CommandError(
      named === undefined || names === ''
        ? 'No sinks: notify.sinks is empty (docs/notifications.md).'
        : `No sink is called ${named}; configured: ${names}.`,
      exitCodes.notFound,
    )
  }
  const { post, close } = openPost()
  const { timeoutMs } = config.notify
  const consoleUrl = linkOf(config)
  const options = {
    post,
    postMail: createPostMail(),
    redact: redactOf(config, sinks),
    clock: systemClock,
    timeoutMs,
    profile: config.profile,
    ...defined({ consoleUrl }),
  }
  try {
    const told = await Promise.all(
      sinks.map(async (sink) => {
        const never = new AbortController().signal
        const answer = await tellSink(sink, { notice, count: 1, isSilent: false }, options, never)
        const result = answer.result === 'later' ? 'failed' : answer.result
        const reason = answer.result === 'sent' ? undefined : answer.reason || undefined
        return { sink: sink.settings.name, type: sink.settings.type, result, ...defined({ reason }) }
      }),
    )
    if (flags.has('json')) out(JSON.stringify(told, undefined, 2))
    else out(columns(told.map(({ sink, type, result, reason = '' }) => [sink, type, result, reason])))
    return told.every(({ result }) => result === 'sent') ? exitCodes.ok : exitCodes.error
  } finally {
    close()
  }
}
