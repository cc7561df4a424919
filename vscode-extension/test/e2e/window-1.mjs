import { runInWindow } from './windows.mjs';

runInWindow(1);
