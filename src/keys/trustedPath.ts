/**
 * Whose word a file is: what decides over real money, or is run, must be what we or the system wrote, and nobody else of this
 * machine may change it, swap it, or swap a folder or a link on the way to it.
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
  /** Where a link leads, as it is written in it; absent when it is none. */
  readonly link?: string
}

/** The machine as the rule sees it; handed in, so that tests make one of other users. */
export interface Machine {
  /** The entry of that name itself, no link followed; undefined when there is none. */
  readonly entryOf: (path: string) => Entry | undefined
  /** The user that perpd runs as; undefined on a system without owners, where nothing is judged. */
  readonly user: number | undefined
  /** The group that perpd runs as, where nobody else is in it; undefined: it is shared. */
  readonly group: number | undefined
  /** perpd's own folder, links resolved. Who owns it, or may change what is above it, is this process already. */
  readonly ownFolder: string
}

/** The part of a path that another user can change. */
export interface Untrusted {
  readonly path: string
  /** `owner`: it is another user's. `everyone`, `group`: every user, or those of a foreign group, may write it. */
  readonly why: 'owner' | 'everyone' | 'group'
  readonly owner: number
  /** Permission bits, octal. */
  readonly mode: string
}

/** As many links as Linux follows. */
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
 * The first part of a path that another user can change, from the root down, links followed; undefined when there is none.
 * What does not exist yet is judged by the folders that do.
 *
 * Trusted are our own entries and root's (and those of who owns the root folder, which is root as a container may see it). Of
 * what others may write, a folder with the sticky bit, as /tmp, is no reason: nobody may replace there what is another's, and
 * what is in it is judged by its own owner. A group is nobody else when it is root's, or ours and nobody else is in it.
 *
 * For what lies in perpd's own folder, its owner is trusted and what is above it is not judged: whoever could change
 * it there could change perpd. What is above it is asked for by its own path: `untrustedPart(dirname(ownFolder))`.
 *
 * @throws what the system says when a part cannot be looked at, and RangeError for links that never end.
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

/** Says why it is not trusted, by its owner or by who may write it, and how to mend that. */
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
