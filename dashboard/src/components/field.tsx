import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useContext,
  useId,
} from 'react';
import { useLanguage } from '../language/language.tsx';
import { ProblemsOfForm } from './validity.ts';

/** Inputs with label, hint and error, connected for screen readers. */

export interface FieldText {
  label: string;
  hint?: ReactNode;
  error?: string | undefined;
}

interface Described {
  id: string;
  'aria-describedby'?: string;
  'aria-invalid'?: true;
}

export function Field({
  label,
  hint,
  error: said,
  children,
}: FieldText & { children: (described: Described) => ReactNode }) {
  const id = useId();
  const problems = useContext(ProblemsOfForm);
  const error = said ?? problems[id];
  const describedBy = [hint === undefined ? '' : `${id}-hint`, error === undefined ? '' : `${id}-error`]
    .filter((each) => each !== '')
    .join(' ');
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        ...(describedBy === '' ? {} : { 'aria-describedby': describedBy }),
        ...(error === undefined ? {} : { 'aria-invalid': true as const }),
      })}
      {hint === undefined ? null : (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error === undefined ? null : (
        <p className="error-text" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  );
}

type Change = { onChange: (value: string) => void };

export function TextField({
  label,
  hint,
  error,
  onChange,
  ...rest
}: FieldText & Change & Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange'>) {
  const { locale } = useLanguage();
  // Vietnamese has a decimal comma, and numeric keyboards may offer nothing else. In English a comma separates
  // thousands: reading it as a point would turn a large amount into a small one. The text stays exact, with a point;
  // only the field shows the comma.
  const isComma = rest.inputMode === 'decimal' && locale === 'vi';
  const asWritten = (text: string) => (isComma ? text.replaceAll(',', '.') : text);
  return (
    <Field label={label} hint={hint} error={error}>
      {(described) => (
        <input
          {...rest}
          {...(isComma && typeof rest.value === 'string' ? { value: rest.value.replaceAll('.', ',') } : {})}
          {...described}
          onChange={(event) => onChange(asWritten(event.target.value))}
        />
      )}
    </Field>
  );
}

export function TextArea({
  label,
  hint,
  error,
  onChange,
  ...rest
}: FieldText & Change & Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'onChange'>) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(described) => <textarea {...rest} {...described} onChange={(event) => onChange(event.target.value)} />}
    </Field>
  );
}

export interface Option {
  value: string;
  label: string;
}

export function SelectField({
  label,
  hint,
  error,
  onChange,
  options,
  ...rest
}: FieldText & Change & { options: readonly Option[] } & Omit<SelectHTMLAttributes<HTMLSelectElement>, 'onChange'>) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(described) => (
        <select {...rest} {...described} onChange={(event) => onChange(event.target.value)}>
          {options.map(({ value, label: text }) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function Checkbox({
  label,
  checked,
  onChange,
  disabled,
}: {
  label: ReactNode;
  checked: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean;
}) {
  return (
    <label className="check">
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChange(event.target.checked)}
      />
      <span>{label}</span>
    </label>
  );
}

/** A few exclusive choices side by side. */
export function Choice({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: string;
  options: readonly Option[];
  onChange: (value: string) => void;
}) {
  const name = useId();
  return (
    <fieldset className="choice">
      <legend className="sr-only">{label}</legend>
      {options.map((option) => (
        <label key={option.value} data-chosen={option.value === value}>
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          <span>{option.label}</span>
        </label>
      ))}
    </fieldset>
  );
}
