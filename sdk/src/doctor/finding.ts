import type { UsdAmount } from '../amounts.ts';

/** What the doctor looks at, and what it says. */

/** What was looked at. */
export type CheckName =
  | 'address'
  | 'reachability'
  | 'clock'
  | 'key'
  | 'budget'
  | 'models'
  | 'environment'
  | 'messages'
  | 'chat completions'
  | 'streaming';

/** The result of one look. */
export interface Finding {
  check: CheckName;
  /** `error`: it does not work; `warning`: it may not, or not for long; `skipped`: something earlier is in the way. */
  level: 'ok' | 'warning' | 'error' | 'skipped';
  /** What is the case. */
  message: string;
  /** What to do about it; null when nothing is to be done. */
  remedy: string | null;
}

/** All findings, in the order of the checks. */
export interface Diagnosis {
  /** True when there is no error among the findings. */
  healthy: boolean;
  findings: Finding[];
  /** What the test requests cost, USD as a decimal string; null when none was answered. */
  costUsd: UsdAmount | null;
}

export const passed = (check: CheckName, message: string): Finding => ({ check, level: 'ok', message, remedy: null });
export const warning = (check: CheckName, message: string, remedy: string): Finding => ({
  check,
  level: 'warning',
  message,
  remedy,
});
export const error = (check: CheckName, message: string, remedy: string): Finding => ({
  check,
  level: 'error',
  message,
  remedy,
});
export const skipped = (check: CheckName, message: string): Finding => ({
  check,
  level: 'skipped',
  message,
  remedy: null,
});
