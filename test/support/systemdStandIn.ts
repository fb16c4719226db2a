/**
 * Loaded before perpd in a process of a test: in the place of systemd's program it runs the one that SYSTEMD_STAND_IN names, so that what a
 * daemon tells is seen on a machine without systemd too. Node has no datagram sockets of the file system to listen on.
 */
import childProcess from 'node:child_process'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const standIn = process.env.SYSTEMD_STAND_IN ?? ''
const isSystemd = (path: unknown): boolean => String(path).endsWith('/systemd-notify')

fs.existsSync = new Proxy(fs.existsSync, {
  apply: (real, self, [path]) => isSystemd(path) || Reflect.apply(real, self, [path]),
})
childProcess.execFile = new Proxy(childProcess.execFile, {
  apply: (real, self, [file, ...rest]) =>
    Reflect.apply(real, self, [isSystemd(file) ? standIn : file, ...rest]),
})
syncBuiltinESMExports()
