/** Judges whether the group that perpd runs as is its user's alone: nobody else may write what such a group may. */
import { readFileSync } from 'node:fs'

/** The lists of users and groups, as Linux keeps them. */
export interface GroupLists {
  /** The text of `/etc/passwd`. */
  readonly users: string
  /** The text of `/etc/group`. */
  readonly groups: string
}

/**
 * Tells whether nobody but this user and root is in a group: by its members, and by the users whose first group it is. A group that is in no list
 * may be of a directory service, whose members are not seen: it counts as its user's alone only where it has the user's own number, as such
 * services and containers give it.
 */
export function isAlone(group: number, user: number, { users, groups }: GroupLists): boolean {
  const people = rows(users).map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
  const isOther = (uid: number): boolean => uid !== user && uid !== 0
  if (people.some(({ uid, gid }) => gid === group && isOther(uid))) return false
  const listed = rows(groups).filter(([, , gid]) => Number(gid) === group)
  if (listed.length === 0) return group === user
  const members = listed.flatMap(([, , , names = '']) => names.split(',').filter((name) => name !== ''))
  // A member of no list is somebody whom a directory service knows.
  return members.every((name) => people.some((each) => each.name === name && !isOther(each.uid)))
}

/** Gives the group of this process where nobody else is in it; undefined: others may be, or that cannot be known. */
export function ownGroup(): number | undefined {
  const [group, user] = [process.getegid?.(), process.geteuid?.()]
  // Other systems keep their users elsewhere.
  if (group === undefined || user === undefined || process.platform !== 'linux') return undefined
  try {
    const lists = { users: readFileSync('/etc/passwd', 'utf8'), groups: readFileSync('/etc/group', 'utf8') }
    return isAlone(group, user, lists) ? group : undefined
  } catch {
    // An image without these lists has nobody in them.
    return group === user ? group : undefined
  }
}

function rows(text: string): readonly (readonly string[])[] {
  return text
    .split('\n')
    .filter((line) => line.includes(':'))
    .map((line) => line.trim().split(':'))
}
