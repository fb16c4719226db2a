/**
 * Loaded with `--import` before the daemon: kills the process with SIGKILL right before or right after the commit of the
 * journal record that KILL_AT names ("attempt.armed:before"). A third part ("intent.accepted:after:is made smaller") names one whose
 * text holds these words. The daemon itself is untouched; only node:sqlite is watched from outside.
 *
 * KILL_WITH names another end: SIGSTOP freezes the process there; `memory` takes all memory of the thread that writes the journal, and
 * `throw` throws in it when it is at rest again.
 */
import { DatabaseSync, StatementSync } from 'node:sqlite'

const [kind = '', moment = '', words = ''] = (process.env.KILL_AT ?? '').split(':')
const inserts = new WeakSet<StatementSync>()
let isArmed = false

const how = process.env.KILL_WITH
const freezes = how === 'SIGSTOP'

const die = () => {
  isArmed = false
  if (how === 'memory') for (const taken: number[][] = []; ; ) taken.push(new Array(1e6).fill(0.5))
  if (how === 'throw') {
    setImmediate(() => {
      throw new Error('a mistake in the thread')
    })
    return
  }
  process.kill(process.pid, freezes ? 'SIGSTOP' : 'SIGKILL')
  // A signal is asynchronous to this thread: nothing may run in between. One that was frozen goes on.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, freezes ? 200 : undefined)
}

if (kind !== '') {
  const { prepare, exec } = DatabaseSync.prototype
  const { run } = StatementSync.prototype
  DatabaseSync.prototype.prepare = function (this: DatabaseSync, ...args: Parameters<typeof prepare>) {
    const statement = prepare.apply(this, args)
    if (args[0].trimStart().startsWith('INSERT INTO record')) inserts.add(statement)
    return statement
  }
  StatementSync.prototype.run = function (this: StatementSync, ...args: unknown[]) {
    const isNamed = args.includes(kind) && args.some((arg) => typeof arg === 'string' && arg.includes(words))
    if (inserts.has(this) && isNamed) isArmed = true
    return Reflect.apply(run, this, args)
  } as typeof run
  DatabaseSync.prototype.exec = function (this: DatabaseSync, sql: string) {
    const isCommit = isArmed && sql.trim().toUpperCase().startsWith('COMMIT')
    if (isCommit && moment === 'before') die()
    exec.call(this, sql)
    if (isCommit && moment === 'after') die()
  }
}
