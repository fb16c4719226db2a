/** The letter by which an e-mail sink is told, with what its server must know. Pure. */
import type { Secret } from '../base/secret.ts'
import type { NoticeLevel } from '../monitor/events/notice.ts'
import type { Message } from './message.ts'
import type { OpenSink } from './sinkRequest.ts'
import type { SinkSettings } from './sinkSettings.ts'

/** A letter and the server that takes it. */
export interface MailLetter {
  readonly host: string
  readonly port: number
  readonly security: 'tls' | 'starttls' | 'none'
  /** Absent: the server asks for no name. */
  readonly login?: { readonly username: string; readonly password: Secret }
  readonly from: string
  readonly to: readonly string[]
  readonly subject: string
  readonly text: string
  readonly priority: 'low' | 'normal' | 'high'
}

const usualPorts = { tls: 465, starttls: 587, none: 25 } as const

/**
 * The letter of a message.
 *
 * @throws RangeError when the password that the sink needs was not read: a mistake of ours.
 */
export function mailLetter(
  settings: Extract<SinkSettings, { type: 'email' }>,
  secrets: OpenSink['secrets'],
  told: { readonly message: Message; readonly level: NoticeLevel; readonly isSilent: boolean },
): MailLetter {
  const { host, security, port = usualPorts[security], username, from, to, name } = settings
  const { message, level, isSilent } = told
  const letter: MailLetter = {
    host,
    port,
    security,
    from,
    to,
    subject: message.title,
    text: message.text,
    priority: isSilent ? 'low' : level === 'error' ? 'high' : 'normal',
  }
  if (username === undefined) return letter
  const password = secrets.get('passwordFile')
  if (password === undefined) throw new RangeError(`the sink ${name} lacks passwordFile`)
  return { ...letter, login: { username, password } }
}
