/** The form of the log where the settings leave it open: text for people, JSON lines for what collects logs. */
import { fstatSync } from 'node:fs'

/** The process whose log it is, and the stream that takes its lines. */
interface LogPlace {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly pid: number
  readonly stream: { readonly isTTY?: boolean; readonly fd: number }
}

/**
 * Returns the form of a log. `auto` is JSON where a service manager runs perpd and no terminal shows its lines: systemd, Kubernetes, or a container
 * whose first process it is. Everything else is read by people, through a pipe too.
 */
export function logFormatOf(
  format: 'auto' | 'pretty' | 'json',
  { env, pid, stream }: LogPlace,
): 'pretty' | 'json' {
  if (format !== 'auto') return format
  if (stream.isTTY === true) return 'pretty'
  // systemd's variables are inherited, by a desktop's terminals too: these two name the process and the stream that they mean.
  const isOfSystemd = env.SYSTEMD_EXEC_PID === String(pid) || isJournal(env.JOURNAL_STREAM, stream.fd)
  const isOfContainer = pid === 1 || env.KUBERNETES_SERVICE_HOST !== undefined
  return isOfSystemd || isOfContainer ? 'json' : 'pretty'
}

/** Tells whether a stream is the one of the journal that `JOURNAL_STREAM` names by its device and inode. */
function isJournal(named: string | undefined, fd: number): boolean {
  if (named === undefined) return false
  try {
    const { dev, ino } = fstatSync(fd, { bigint: true })
    return named === `${dev}:${ino}`
  } catch {
    return false
  }
}
