/**
 * Keeps tests away from what a user of this checkout runs: the default control port, and the state and settings in the
 * checkout itself. A test that reaches for them fails, so that the suite passes beside a running daemon which sees none of it.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import { isAbsolute, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = resolve(import.meta.dirname, '..', '..')

/** Ports that a daemon takes when nobody names another. A number of its own: the settings import much, and every file of tests loads this one. */
export const usersPorts: readonly number[] = [9_464]

/** What a user's daemon and commands keep in the checkout they are started in. */
const usersPaths: readonly string[] = ['var', 'perpd.json'].map((name) => resolve(root, name))

const files = [
  'openSync',
  'readFileSync',
  'writeFileSync',
  'appendFileSync',
  'existsSync',
  'statSync',
  'lstatSync',
  'mkdirSync',
  'renameSync',
  'linkSync',
  'unlinkSync',
  'rmSync',
  'readdirSync',
  'createWriteStream',
] as const

/** Calls `onReach` with a sentence, and throws, when this process reaches for what is a user's. */
export function guardUsersOwn(onReach: (what: string) => void): void {
  const refuse = (what: string): never => {
    onReach(what)
    throw new Error(`a test ${what}, which is a user's own`)
  }
  const { connect } = net.Socket.prototype
  net.Socket.prototype.connect = function (this: net.Socket, ...args: unknown[]) {
    const port = portIn(args)
    if (usersPorts.includes(port)) refuse(`connects to port ${port}`)
    return Reflect.apply(connect, this, args)
  } as typeof connect
  const { listen } = net.Server.prototype
  net.Server.prototype.listen = function (this: net.Server, ...args: unknown[]) {
    const port = portIn(args)
    if (usersPorts.includes(port)) refuse(`listens on port ${port}`)
    return Reflect.apply(listen, this, args)
  } as typeof listen
  for (const name of files) {
    const original = fs[name] as (...args: unknown[]) => unknown
    const guarded = (...args: unknown[]): unknown => {
      const path = pathOf(args[0])
      const own = path === undefined ? undefined : usersPaths.find((each) => isIn(path, each))
      if (own !== undefined) refuse(`calls ${name} on ${path}`)
      return original(...args)
    }
    Object.assign(fs, { [name]: guarded })
  }
  syncBuiltinESMExports()
}

function isIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}${sep}`)
}

function pathOf(given: unknown): string | undefined {
  if (given instanceof URL) return given.protocol === 'file:' ? fileURLToPath(given) : undefined
  if (typeof given !== 'string') return undefined
  return isAbsolute(given) ? resolve(given) : resolve(process.cwd(), given)
}

/** The port of what `connect` and `listen` are given, in any of their forms; -1 without one. */
function portIn(args: readonly unknown[]): number {
  const flat = Array.isArray(args[0]) ? (args[0] as readonly unknown[]) : args
  const [first] = flat
  const port = typeof first === 'object' && first !== null && 'port' in first ? first.port : first
  return typeof port === 'number' || (typeof port === 'string' && /^\d+$/.test(port)) ? Number(port) : -1
}
