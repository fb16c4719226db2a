/**
 * A root folder in the place of the base image, with this machine's Node and npm and the few programs that the commands of the Dockerfile
 * and of the manifests need, and how a command is run in it, by the kernel's own means. To be used by root.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, dirname, join } from 'node:path'

/** Programs of the base image that the commands of the Dockerfile and of the manifests use. */
const programs = 'sh env rm mkdir chown chmod cp ls cat install setpriv touch id'.split(' ')
const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
/** Why this machine cannot do it; undefined: it can. */
export function whyNot(): string | undefined {
  if (process.platform !== 'linux') return 'it takes Linux'
  if (process.getuid?.() !== 0) return 'it takes root'
  for (const program of ['unshare', 'nsenter', 'chroot', 'mount', 'ip', 'ldd', 'npm', ...programs])
    if (placeOf(program) === undefined) return `there is no ${program}`
  const tried = spawnSync('unshare', [
    '--mount',
    '--pid',
    '--net',
    '--fork',
    'mount',
    '-t',
    'tmpfs',
    'none',
    '/mnt',
  ])
  return tried.status === 0 ? undefined : 'name spaces are not allowed here'
}

function placeOf(program: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((each) => !each.includes('node_modules'))
  return [...folders, '/usr/sbin', '/sbin']
    .map((each) => join(each, program))
    .find((each) => existsSync(each))
}

/** Makes the folder that stands for the base image `node:VERSION`. */
export function makeBase(root: string): void {
  for (const each of [
    'etc/ssl/certs',
    'usr/bin',
    'usr/local/bin',
    'usr/local/lib/node_modules',
    'root',
    'proc',
    'dev',
    'tmp',
    'run',
    'var',
    'opt',
    'home/node',
    'mnt',
  ])
    mkdirSync(join(root, each), { recursive: true })
  symlinkSync('usr/bin', join(root, 'bin'))
  chmodSync(join(root, 'tmp'), 0o1777)
  chmodSync(join(root, 'root'), 0o700)
  chownSync(join(root, 'home/node'), 1000, 1000)
  writeFileSync(
    join(root, 'etc/passwd'),
    'root:x:0:0:root:/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n',
  )
  writeFileSync(join(root, 'etc/group'), 'root:x:0:\nnode:x:1000:\n')
  writeFileSync(join(root, 'etc/hosts'), '127.0.0.1 localhost\n')
  for (const each of ['/etc/resolv.conf', '/etc/ssl/certs/ca-certificates.crt'])
    if (existsSync(each)) cpSync(realpathSync(each), join(root, each))
  for (const program of programs) copyProgram(root, placeOf(program) ?? program, `usr/bin/${program}`)
  copyProgram(root, process.execPath, 'usr/local/bin/node')
  // Files of the base image's libc6 besides those that programs load: native modules name these.
  const [, libc = ''] =
    /(\/\S*\/libc\.so\.6) /.exec(spawnSync('ldd', [process.execPath], { encoding: 'utf8' }).stdout) ?? []
  for (const name of ['librt.so.1', 'libpthread.so.0', 'libdl.so.2']) {
    const library = join(dirname(libc), name)
    if (existsSync(library)) cpSync(realpathSync(library), join(root, library))
  }
  const npm = dirname(dirname(realpathSync(placeOf('npm') ?? '')))
  execFileSync('cp', ['-a', npm, join(root, 'usr/local/lib/node_modules/npm')])
  for (const name of ['npm', 'npx'])
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(root, 'usr/local/bin', name))
}

/** Copies a program with the libraries that it loads. */
function copyProgram(root: string, from: string, to: string): void {
  const place = realpathSync(from)
  execFileSync('cp', ['-L', place, join(root, to)])
  const libraries = spawnSync('ldd', [place], { encoding: 'utf8' }).stdout.matchAll(/(\/\S+) \(0x/g)
  for (const [, library = ''] of libraries) {
    const copy = join(root, library)
    if (existsSync(copy)) continue
    mkdirSync(dirname(copy), { recursive: true })
    cpSync(realpathSync(library), copy)
  }
}

/** A shell's script that mounts what it is told and then is the command: handed a root, whether it is read-only, mounts, `--` and words. */
export const script = `set -e
root=$1; readonly=$2; shift 2
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755 none "$root/dev"
for each in null zero random urandom; do : > "$root/dev/$each"; mount --bind "/dev/$each" "$root/dev/$each"; done
if [ "$readonly" = yes ]; then
  mount -t tmpfs -o mode=1777,size=16m,noexec,nosuid,nodev none "$root/tmp"
  ip link set lo up
fi
while [ "$1" != -- ]; do
  mount --bind "$1" "$root$2"
  if [ "$3" = ro ]; then mount -o remount,bind,ro "$root$2"; fi
  shift 3
done
shift
if [ "$readonly" = yes ]; then mount -o remount,bind,ro "$root"; fi
exec chroot "$root" "$@"
`

/** A command with no environment but this, in a folder of the root. */
export function words(env: Readonly<Record<string, string>>, workdir: string): string[] {
  const set = { PATH: path, ...env }
  return [
    '/usr/bin/env',
    '-i',
    '-C',
    workdir,
    ...Object.entries(set).map(([name, value]) => `${name}=${value}`),
  ]
}
