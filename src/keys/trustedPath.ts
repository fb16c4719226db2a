/**
 * Tells who may change a file. A file that is executed or decides over real money must belong to perpd's user or to root. No other user of the
 * machine may change it, replace it, or replace a folder or a link on the way to it.
 */
import { lstatSync, readlinkSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defined } from '../base/defined.ts'
import { ownGroup } from './ownGroup.ts'

/** Checked facts of a file, a folder or a link. */
export interface Entry {
  readonly uid: number
  readonly gid: number
  /** Permission bits, the sticky bit included. */
  readonly mode: number
  readonly isFolder: boolean
  /** Target of a link, as written in it; absent for other entries. */
  readonly link?: string
}

/** Facts of the machine; a parameter, so that tests can have machines with other users. */
export interface Machine {
  /** Returns the entry at a path without following a link; undefined: there is none. */
  readonly entryOf: (path: string) => Entry | undefined
  /** The user that perpd runs as; undefined on a system without owners, where every path is trusted. */
  readonly user: number | undefined
  /** The group that perpd runs as, if perpd's user is its only member; undefined: others are in it. */
  readonly group: number | undefined
  /** perpd's own folder, links resolved. A user who owns it, or may change a folder above it, controls this process already. */
  readonly ownFolder: string
}

/** The part of a path that another user can change. */
export interface Untrusted {
  readonly path: string
  /** `owner`: another user owns it. `everyone`, `group`: every user, or the members of another group, may write it. */
  readonly why: 'owner' | 'everyone' | 'group'
  readonly owner: number
  /** Permission bits, octal. */
  readonly mode: string
}

/** Most links that are followed, as in Linux. */
const mostLinks = 40
const sticky = 0o1000

/** This machine. */
export const thisMachine: Machine = {
  entryOf(path) {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (stat === undefined) return undefined
    return {
      uid: stat.uid,
      gid: stat.gid,
      mode: stat.mode & 0o7777,
      isFolder: stat.isDirectory(),
      ...defined({ link: stat.isSymbolicLink() ? readlinkSync(path) : undefined }),
    }
  },
  user: process.geteuid?.(),
  group: ownGroup(),
  ownFolder: fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, ''),
}

/**
 * Returns the first part of a path, from the root down, that another user can change; undefined: there is none. Links are followed. A path that
 * does not exist yet is judged by its existing folders.
 *
 * Entries of perpd's user and of root are trusted, and those of the owner of the root folder, which is root as a container may see it. A folder
 * with the sticky bit, like /tmp, may be writable by others: nobody can replace another user's entry there, and each entry is judged by its own
 * owner. A group counts as trusted when it is root's, or perpd's without another member.
 *
 * Inside perpd's own folder its owner is trusted, and the folders above it are not judged: a user who could change those could change perpd. To
 * judge those, ask for them: `untrustedPart(dirname(ownFolder))`.
 *
 * @throws the system's error when a part cannot be read, and RangeError for links without an end.
 */
export function untrustedPart(path: string, machine: Machine = thisMachine): Untrusted | undefined {
  const { entryOf, user, ownFolder } = machine
  if (user === undefined) return undefined
  const start = resolve(path)
  const root = entryOf('/')
  const codeOwner = entryOf(ownFolder)?.uid
  const system = root?.uid ?? 0
  const found = [judge('/', root, machine, [system])]
  const parts = partsOf(start)
  let at = '/'
  for (let links = 0; parts.length > 0; ) {
    const part = parts.shift() ?? ''
    if (part === '..') {
      at = dirname(at)
      continue
    }
    const next = join(at, part)
    const entry = entryOf(next)
    if (entry === undefined) break
    const others = [
      root?.uid ?? 0,
      ...(isBelow(next, ownFolder) && codeOwner !== undefined ? [codeOwner] : []),
    ]
    found.push(judge(next, entry, machine, others))
    if (entry.link === undefined) {
      at = next
      continue
    }
    links += 1
    if (links > mostLinks) throw new RangeError(`${path}: its links form a loop`)
    parts.unshift(...partsOf(entry.link))
    if (isAbsolute(entry.link)) at = '/'
  }
  const isOwn = isBelow(at, ownFolder)
  // perpd's own code stands on the same ground.
  return found.find((each) => each !== undefined && !(isOwn && isAbove(each.path, ownFolder)))
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}

function isAbove(path: string, folder: string): boolean {
  return path === '/' || folder.startsWith(`${path}/`)
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.')
}

/** Describes why a path is not trusted, and how to correct that. */
export function untrustedText({ path, why, owner, mode }: Untrusted): {
  readonly what: string
  readonly fix: string
} {
  switch (why) {
    case 'owner':
      return {
        what: `${path} belongs to another user (${owner}), who can change its content`,
        fix: `keep it in a folder of your own, or, if it is yours: chown ${process.geteuid?.() ?? 'YOU'} ${path}`,
      }
    case 'everyone':
      return {
        what: `every user of this machine can write to ${path} (mode ${mode})`,
        fix: `chmod o-w ${path}`,
      }
    case 'group':
      return {
        what: `a group with other members can write to ${path} (mode ${mode})`,
        fix: `chmod g-w ${path}`,
      }
  }
}

function judge(
  path: string,
  entry: Entry | undefined,
  { user, group }: Machine,
  others: readonly number[],
): Untrusted | undefined {
  if (entry === undefined) return undefined
  const { uid, gid, mode, isFolder, link } = entry
  const no = (why: Untrusted['why']): Untrusted => ({ path, why, owner: uid, mode: mode.toString(8) })
  if (uid !== user && uid !== 0 && !others.includes(uid)) return no('owner')
  // A link's own bits mean nothing.
  if (link !== undefined || (isFolder && (mode & sticky) !== 0)) return undefined
  if ((mode & 0o002) !== 0) return no('everyone')
  return (mode & 0o020) !== 0 && gid !== 0 && gid !== group ? no('group') : undefined
}
