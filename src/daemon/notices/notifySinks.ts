/** Opens who tells people outside: sinks with the secrets of their files, and connections of their own. */

import type { BareSide } from '../../account/holdings/unprotectedPositions.ts'
import { createNodeFetch } from '../../api/transport/nodeFetch.ts'
import { defined } from '../../base/defined.ts'
import { Secret } from '../../base/secret.ts'
import { systemClock } from '../../base/systemClock.ts'
import type { Config } from '../../config/configTypes.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { isSafeUrl } from '../../config/sections/formats.ts'
import type { Emit } from '../../domain/event.ts'
import { type PrivateFileRules, readSecretFile } from '../../keys/privateFile.ts'
import type { Notice } from '../../monitor/events/notice.ts'
import { createIncidents, type Incidents } from '../../monitor/incidents/incidents.ts'
import type { StoryStore } from '../../monitor/incidents/openStories.ts'
import { createRedactor } from '../../monitor/log/redact.ts'
import { createNotifier, type Notifier } from '../../notify/notifier.ts'
import { createPostMail } from '../../notify/sendMail.ts'
import type { OpenSink } from '../../notify/sinkRequest.ts'
import { type SecretField, secretFields } from '../../notify/sinkSettings.ts'

/** Largest answer of a sink that is read, bytes. */
const MAX_ANSWER_BYTES = 65_536
/** Between two looks for a position without a stop, ms. */
const STOP_LOOK_MS = 30_000

/** Form of each setting's secret, and its description. */
const shapes: Readonly<
  Record<SecretField, { readonly fits: (text: string) => boolean; readonly what: string }>
> = {
  secretFile: {
    fits: (text) => /^[\x21-\x7e]{32,256}$/.test(text),
    what: 'a secret of 32 to 256 letters, digits and signs without spaces (openssl rand -hex 32)',
  },
  topicFile: {
    fits: (text) => /^[A-Za-z0-9_-]{1,64}$/.test(text),
    what: 'a topic of letters, digits, - and _',
  },
  tokenFile: { fits: (text) => /^[A-Za-z0-9:_.-]{8,256}$/.test(text), what: 'a token' },
  passwordFile: { fits: (text) => /^[^\p{Cc}]{1,1024}$/u.test(text), what: 'a password on one line' },
  urlFile: { fits: (text) => isSafeUrl(text, true), what: 'an https:// address' },
}

/**
 * The sinks of the configuration with their secrets.
 *
 * @param credentialsDirectory where systemd puts the credentials of the service; absent: nowhere.
 *
 * @throws KeyFileError when a file cannot be opened or others may read it; CommandError with exit code 4 when it holds something else.
 */
export function openSinks(
  config: Config,
  credentialsDirectory = process.env.CREDENTIALS_DIRECTORY,
): readonly OpenSink[] {
  return config.notify.sinks.map((settings) => {
    const written: Readonly<Partial<Record<SecretField, unknown>>> = settings
    const secrets = secretFields.flatMap((field): readonly (readonly [SecretField, Secret])[] => {
      const path = written[field]
      if (typeof path !== 'string') return []
      const setting = `notify.sinks (${settings.name}.${field})`
      const rules = { setting, checksFolder: !config.isPaper, credentialsDirectory }
      return [[field, readSinkSecret(path, field, rules)]]
    })
    return { settings, secrets: new Map(secrets) }
  })
}

/** Reads what the file of a sink holds. Throws as `openSinks` does. */
export function readSinkSecret(
  path: string,
  field: SecretField,
  rules: Omit<PrivateFileRules, 'what'>,
): Secret {
  const text = readSecretFile(path, rules).reveal().trim()
  const { fits, what } = shapes[field]
  if (fits(text)) return new Secret(text)
  throw new CommandError(`${path} does not hold ${what}; ${rules.setting} names it.`, exitCodes.configuration)
}

/** The connections by which sinks are told; none of them is one that trading uses. */
export function openPost(): { readonly post: ReturnType<typeof createNodeFetch>['fetch']; close(): void } {
  const { fetch, close } = createNodeFetch({ maxBodyBytes: MAX_ANSWER_BYTES, idlePerHost: 1 })
  return { post: fetch, close }
}

/** The address that messages name: what is set for them, else the console's where browsers reach it by an address of its own. */
export function linkOf({ notify, control, accountName }: Config): string | undefined {
  if (notify.consoleUrl !== undefined) return notify.consoleUrl
  if (control.consoleUrl === undefined || !control.console) return undefined
  const account = accountName === undefined ? '' : `?account=${accountName}`
  return `${control.consoleUrl.replace(/\/+$/, '')}/console/${account}`
}

/** Hides the secrets of the sinks and of the chain's addresses in a text. */
export function redactOf({ rpc, journal }: Config, sinks: readonly OpenSink[]): (text: string) => string {
  const secrets = sinks.flatMap((sink) => [...sink.secrets.values()])
  return createRedactor([...rpc.http, ...rpc.ws, ...(journal.url ? [journal.url] : []), ...secrets]).text
}

/** A notifier, with its incidents and what else talks to its sinks. */
export interface OpenNotifier extends Notifier {
  readonly incidents: Incidents
  readonly sinks: readonly OpenSink[]
  readonly redact: ReturnType<typeof redactOf>
}

/**
 * Opens the notifier for a run of the daemon; the parts that make letters are loaded when it resolves. Rejects with the errors of `openSinks`.
 *
 * @param uses the store of open notifications between runs, and the loaders of the parts that make letters. When a loader rejects, the letter that
 * lacks the part says so.
 */
export async function openNotifier(
  config: Config,
  emit: Emit,
  uses: { readonly stories?: StoryStore | undefined; readonly load?: () => Promise<unknown> } = {},
): Promise<OpenNotifier> {
  const { stories, load = () => import('nodemailer') } = uses
  const { maxWaiting, timeoutMs } = config.notify
  const consoleUrl = linkOf(config)
  const { post, close } = openPost()
  const sinks = openSinks(config)
  const redact = redactOf(config, sinks)
  // Sixty files, half a tenth of a second of the loop's time on a quick machine: over before anything has a tick to be late for.
  if (sinks.some(({ settings }) => settings.type === 'email')) await load().catch(() => undefined)
  const incidents = createIncidents({
    now: systemClock.now,
    redact,
    // Without sinks nothing is notified, and no end has to be.
    ...defined({ store: sinks.length === 0 ? undefined : stories }),
  })
  const notifier = createNotifier({
    sinks,
    redact,
    incidents,
    post,
    postMail: createPostMail(),
    clock: systemClock,
    emit,
    maxWaiting,
    timeoutMs,
    profile: config.profile,
    ...defined({ consoleUrl, account: config.accountName }),
  })
  return {
    ...notifier,
    incidents,
    sinks,
    redact,
    async close(withinMs) {
      await notifier.close(withinMs)
      close()
    },
  }
}

/** Looks at the positions for one without a stop, every half minute; gives what ends it. */
export function watchStops(
  { look }: Notifier,
  status: () => {
    readonly withoutStop?: readonly BareSide[]
    readonly symbols: Readonly<Record<string, string>>
  },
): () => void {
  const timer = setInterval(() => {
    const { withoutStop, symbols } = status()
    // Orders were not looked at yet.
    if (withoutStop === undefined) return
    const bare = withoutStop.map(({ marketToken, direction, uncoveredUsd }) => ({
      side: `${direction} ${symbols[marketToken.toLowerCase()] ?? marketToken}`,
      uncoveredUsd,
    }))
    look(bare)
  }, STOP_LOOK_MS)
  timer.unref()
  return () => clearInterval(timer)
}

/** Notice that a fault ends the daemon, or one account of it. */
export function crashNotice(reason: string, subject = 'perpd'): Notice {
  return {
    kind: 'daemon-crashed',
    level: 'error',
    cause: 'crash',
    isEnd: true,
    text: `${subject} stops: ${reason}. Resting orders and positions stay, and the next start resumes them`,
    action: 'Check the log and restart perpd.',
  }
}
