/** Whose word a file is: on a machine that is made up here, so that every user can run this. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isAlone } from '../../src/keys/ownGroup.ts'
import { type Entry, type Machine, thisMachine, untrustedPart } from '../../src/keys/trustedPath.ts'

const [root, me, other, nobody] = [0, 1000, 2000, 65_534]
const folder = (uid: number, mode = 0o755, gid = uid): Entry => ({ uid, gid, mode, isFolder: true })
const file = (uid: number, mode = 0o644, gid = uid): Entry => ({ uid, gid, mode, isFolder: false })
const link = (uid: number, to: string): Entry => ({ uid, gid: uid, mode: 0o777, isFolder: false, link: to })

const usual: Record<string, Entry> = {
  '/': folder(root),
  '/tmp': folder(root, 0o1777),
  '/opt': folder(root),
  '/opt/perpd': folder(root),
  '/home': folder(root),
  '/home/me': folder(me, 0o750),
  '/home/other': folder(other),
}

function machine(entries: Record<string, Entry>, user: number | undefined = me): Machine {
  const all = { ...usual, ...entries }
  return { entryOf: (path) => all[path], user, group: user, ownFolder: '/opt/perpd' }
}

/** What is found of a path: the part and why. */
function found(path: string, entries: Record<string, Entry>, user = me): string | undefined {
  const part = untrustedPart(path, machine(entries, user))
  return part === undefined ? undefined : `${part.why} of ${part.path}`
}

test('what is ours or root’s all the way is read', () => {
  expect(found('/home/me/a', { '/home/me/a': file(me) })).toBeUndefined()
  expect(found('/opt/a', { '/opt/a': file(root) })).toBeUndefined()
  expect(found('/home/me/a', { '/home/me/a': file(root) })).toBeUndefined()
  expect(found('/a', { '/a': file(root) }, root)).toBeUndefined()
})

test('what is another user’s is not, neither for root nor for anybody: the file, its folder, a folder above', () => {
  for (const user of [me, root]) {
    expect(found('/home/other/a', { '/home/other/a': file(other) }, user)).toBe('owner of /home/other')
    // Its owner may rename what is ours in it.
    expect(
      found(
        '/home/other/mine/a',
        { '/home/other/mine': folder(user), '/home/other/mine/a': file(user) },
        user,
      ),
    ).toBe('owner of /home/other')
    expect(found('/opt/a', { '/opt/a': file(other) }, user)).toBe('owner of /opt/a')
    // What is not there yet would be made in his folder.
    expect(found('/home/other/var/new', {}, user)).toBe('owner of /home/other')
  }
  expect(found('/home/me/new/file', {})).toBeUndefined()
})

test('in a sticky folder that everybody may write, what is ours is read and what another put there is not', () => {
  expect(found('/tmp/mine/a', { '/tmp/mine': folder(me, 0o700), '/tmp/mine/a': file(me) })).toBeUndefined()
  expect(found('/tmp/a', { '/tmp/a': file(me) })).toBeUndefined()
  expect(found('/tmp/a', { '/tmp/a': file(other) })).toBe('owner of /tmp/a')
  expect(found('/tmp/his/a', { '/tmp/his': folder(other), '/tmp/his/a': file(me) })).toBe('owner of /tmp/his')
  expect(found('/tmp/a', { '/tmp': folder(root, 0o777), '/tmp/a': file(me) })).toBe('everyone of /tmp')
})

test('a group that others are in is not one’s own: its members, and who has it as the first', () => {
  const users =
    'root:x:0:0::/root:/bin/sh\nme:x:1000:1000::/home/me:/bin/sh\nann:x:1001:1001::/home/ann:/bin/sh\n'
  const alone = (groups: string, group = 1000, more = '') =>
    isAlone(group, me, { users: `${users}${more}`, groups: `root:x:0:\n${groups}\n` })
  expect(alone('me:x:1000:')).toBe(true)
  expect(alone('me:x:1000:me,root')).toBe(true)
  expect(alone('me:x:1000:ann')).toBe(false)
  // Somebody whom only a directory service knows.
  expect(alone('me:x:1000:me,bob')).toBe(false)
  expect(alone('users:x:100:', 100)).toBe(true)
  expect(alone('users:x:100:', 100, 'bob:x:1002:100::/home/bob:/bin/sh\n')).toBe(false)
  // Of no list: a number of the user's own, as a container is given, and a service's group.
  expect(alone('')).toBe(true)
  expect(alone('', 513)).toBe(false)
  const shared = { '/home/me/a': file(me, 0o664) }
  expect(untrustedPart('/home/me/a', { ...machine(shared), group: undefined })?.why).toBe('group')
})

test('what everybody or a foreign group may write is not read; a group of one’s own is nobody else', () => {
  expect(found('/home/me/a', { '/home/me/a': file(me, 0o666) })).toBe('everyone of /home/me/a')
  expect(found('/home/me/a', { '/home/me': folder(me, 0o777), '/home/me/a': file(me) })).toBe(
    'everyone of /home/me',
  )
  expect(found('/home/me/a', { '/home/me/a': file(me, 0o664, 50) })).toBe('group of /home/me/a')
  expect(found('/home/me/a', { '/home/me': folder(me, 0o775, 50), '/home/me/a': file(me) })).toBe(
    'group of /home/me',
  )
  expect(
    found('/home/me/a', { '/home/me': folder(me, 0o775), '/home/me/a': file(me, 0o664) }),
  ).toBeUndefined()
})

test('links are followed: the link, what it leads to, and every folder on both ways count', () => {
  const target = { '/home/other/a': file(me) }
  expect(found('/home/me/a', { ...target, '/home/me/a': link(me, '/home/other/a') })).toBe(
    'owner of /home/other',
  )
  expect(found('/home/me/a', { ...target, '/home/me/a': link(me, '../other/a') })).toBe(
    'owner of /home/other',
  )
  const mine = { '/home/me/a': file(me) }
  expect(found('/tmp/a', { ...mine, '/tmp/a': link(other, '/home/me/a') })).toBe('owner of /tmp/a')
  expect(found('/home/other/l/a', { ...mine, '/home/other/l': link(other, '/home/me') })).toBe(
    'owner of /home/other',
  )
  expect(found('/tmp/a', { ...mine, '/tmp/a': link(me, '/home/me/a') })).toBeUndefined()
  expect(found('/tmp/l/./a', { ...mine, '/tmp/l': link(me, '../home/me/') })).toBeUndefined()
  expect(() => found('/tmp/a', { '/tmp/a': link(me, 'b'), '/tmp/b': link(me, 'a') })).toThrow(RangeError)
})

test('perpd’s own folder stands as its code does, and is judged when it is asked for from above', () => {
  const checkout = {
    '/home/other/perpd': folder(other),
    '/home/other/perpd/config.json': file(other),
    '/home/other/perpd/open.json': file(other, 0o666),
    '/home/other/perpd/planted.json': file(nobody),
    '/tmp/l': link(me, '/home/other'),
    '/home/other/l': link(other, '/home/other/perpd'),
  }
  const within = (path: string) => {
    const part = untrustedPart(path, { ...machine(checkout), ownFolder: '/home/other/perpd' })
    return part?.path
  }
  expect(within('/home/other/perpd/config.json')).toBeUndefined()
  expect(within('/tmp/l/perpd/config.json')).toBeUndefined()
  expect(within('/home/other/l/config.json')).toBe('/home/other/l')
  expect(within('/home/other/perpd/open.json')).toBe('/home/other/perpd/open.json')
  expect(within('/home/other/perpd/planted.json')).toBe('/home/other/perpd/planted.json')
  expect(within('/home/other')).toBe('/home/other')
})

test('root as a container may see it owns the root folder; a system without owners is not judged', () => {
  const entries = { '/': folder(nobody), '/home': folder(nobody), '/home/me/a': file(me) }
  expect(found('/home/me/a', entries)).toBeUndefined()
  expect(found('/home/me/a', { '/home/me/a': file(nobody) })).toBe('owner of /home/me/a')
  const open = { '/a': file(other, 0o666) }
  expect(untrustedPart('/a', { ...machine(open), user: undefined })).toBeUndefined()
})

test('one entry of another user, anywhere on any way, is always found', () => {
  const names = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(names, fc.nat(), fc.boolean(), (parts, pick, isSticky) => {
      const entries: Record<string, Entry> = { '/': folder(root) }
      const paths = parts.map((_, at) => `/${parts.slice(0, at + 1).join('/')}`)
      for (const path of paths) entries[path] = folder(me, isSticky ? 0o1777 : 0o755)
      const whole = paths.at(-1) ?? '/'
      const look = (all: Record<string, Entry>) =>
        untrustedPart(whole, { entryOf: (path) => all[path], user: me, group: me, ownFolder: '/opt/perpd' })
      expect(look(entries)).toBeUndefined()
      const planted = paths[pick % paths.length] ?? '/'
      expect(look({ ...entries, [planted]: folder(other, 0o755) })?.path).toBe(planted)
    }),
    { seed: 12, numRuns: 300 },
  )
})

test('this machine is looked at as it is', () => {
  const here = realpathSync(mkdtempSync(join(tmpdir(), 'perpd-trusted-')))
  try {
    mkdirSync(join(here, 'in'))
    writeFileSync(join(here, 'in', 'a'), '')
    symlinkSync('in/a', join(here, 'way'))
    expect(thisMachine.entryOf(join(here, 'way'))).toMatchObject({ link: 'in/a', isFolder: false })
    expect(thisMachine.entryOf(join(here, 'none'))).toBeUndefined()
    expect(untrustedPart(join(here, 'way'))).toBeUndefined()
    // Who runs this is a third party to somebody else.
    const strange = untrustedPart(join(here, 'way'), { ...thisMachine, user: 4_000_000, ownFolder: '/none' })
    expect(strange === undefined).toBe(process.geteuid?.() === 0)
  } finally {
    rmSync(here, { recursive: true })
  }
})
