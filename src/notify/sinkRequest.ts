/** The request by which each service is told. Pure; what is revealed here goes into the request and nowhere else. */
import { createHmac } from 'node:crypto'
import { defined } from '../base/defined.ts'
import type { Secret } from '../base/secret.ts'
import type { Notice } from '../monitor/events/notice.ts'
import { cutText, type Message } from './message.ts'
import type { SecretField, SinkSettings } from './sinkSettings.ts'

/** A sink with the secrets of its files. */
export interface OpenSink {
  readonly settings: SinkSettings
  readonly secrets: ReadonlyMap<SecretField, Secret>
}

/** Request to post. Address, headers and body may hold secrets: none of them is logged. */
export interface SinkRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Longest texts that the services take, characters (Discord: `content`, Telegram: `sendMessage`, ntfy: bytes). */
const longest = { discord: 2_000, telegram: 4_096, ntfy: 4_096 / 4, slack: 4_000 } as const
/** Discord's flag of a message that makes no sound. */
const SUPPRESS_NOTIFICATIONS = 4_096

const ntfyPriority = { info: 3, warn: 4, error: 5 } as const

/**
 * The request of a message.
 *
 * @param sink any but one that writes e-mail, which goes another way (`mailLetter.ts`).
 * @param nowMs Unix ms, which a webhook's signature holds.
 * @throws RangeError when a secret that the sink needs was not read: a mistake of ours.
 */
export function sinkRequest(
  sink: OpenSink,
  told: {
    readonly notice: Notice
    readonly message: Message
    readonly isSilent: boolean
    readonly count: number
  },
  nowMs: number,
): SinkRequest {
  const { settings } = sink
  const { notice, message, isSilent, count } = told
  const json = { 'content-type': 'application/json' }
  const secret = (field: SecretField): string => revealed(sink, field)
  const whole = `${message.title}\n${message.text}`
  switch (settings.type) {
    case 'webhook': {
      const { kind, level, cause, text, action, isEnd = false } = notice
      const body = JSON.stringify({
        event: kind,
        level,
        cause,
        isEnd,
        count,
        isSilent,
        title: message.title,
        message: message.text,
        text,
        action: action ?? null,
        sentAtMs: nowMs,
      })
      const mac = createHmac('sha256', secret('secretFile')).update(`${nowMs}\n${body}`).digest('hex')
      const signature = `timestamp=${nowMs}, mac=${mac}`
      return { url: settings.url, headers: { ...json, 'x-perpd-signature': signature }, body }
    }
    case 'ntfy': {
      const token = sink.secrets.get('tokenFile')
      const authorization = token === undefined ? {} : { authorization: `Bearer ${token.reveal()}` }
      const body = JSON.stringify({
        topic: secret('topicFile'),
        title: message.title,
        message: cutText(message.text, longest.ntfy),
        priority: isSilent ? 1 : ntfyPriority[notice.level],
      })
      return { url: settings.url, headers: { ...json, ...authorization }, body }
    }
    case 'slack': {
      const escaped = whole.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
      const body = JSON.stringify({ text: cutText(escaped, longest.slack), mrkdwn: false })
      return { url: secret('urlFile'), headers: json, body }
    }
    case 'discord': {
      const body = JSON.stringify({
        content: cutText(whole, longest.discord),
        // Text from a host or a strategy must not ping anybody.
        allowed_mentions: { parse: [] },
        ...(isSilent ? { flags: SUPPRESS_NOTIFICATIONS } : {}),
      })
      return { url: secret('urlFile'), headers: json, body }
    }
    case 'telegram': {
      const body = JSON.stringify({
        chat_id: settings.chatId,
        ...defined({ message_thread_id: settings.topicId }),
        text: cutText(whole, longest.telegram),
        disable_notification: isSilent,
        link_preview_options: { is_disabled: true },
      })
      return {
        url: `${settings.url.replace(/\/+$/, '')}/bot${secret('tokenFile')}/sendMessage`,
        headers: json,
        body,
      }
    }
    case 'email':
      throw new RangeError(`the sink ${settings.name} sends e-mail, not requests`)
  }
}

function revealed({ settings, secrets }: OpenSink, field: SecretField): string {
  const found = secrets.get(field)
  if (found === undefined) throw new RangeError(`the sink ${settings.name} lacks ${field}`)
  return found.reveal()
}
