/** Settings of market history: the place where it is stored. */
import { flag, type Section, setting } from '../../protocol/settings/setting.ts'
import * as as from './formats.ts'

/** Settings under `history`. */
export const history = {
  folder: setting(
    as.path,
    './var/history',
    'Folder of market history, which `perpd data` fills and backtests read: Parquet files and a manifest. The same for all profiles.',
  ),
  record: setting(
    flag,
    false,
    'Record market data and decisions into `history.folder` while trading: about 40 MB a day for 20 markets. `perpd record` records market data without a daemon.',
  ),
} satisfies Section
