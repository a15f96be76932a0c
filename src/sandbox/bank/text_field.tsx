/** A labelled text input with its hint and, after a wrong entry, the complaint that screen readers announce. */
import type { JSX } from "hono/jsx/jsx-runtime";

/** `name` is also the id. */
export interface TextFieldProps {
  readonly name: string;
  readonly label: string;
  readonly type?: "text" | "password";
  readonly inputmode?: "numeric" | "text";
  /** Token of the HTML autofill list. */
  readonly autocomplete: string;
  readonly maxlength: number;
  /** Ids of the texts that explain the input, separated by spaces. */
  readonly describedBy: string;
  /** The last entry was wrong. */
  readonly wrong: boolean;
  /** The initial value. */
  readonly value?: string;
  /** The input gets the focus, so that screen readers read it first. */
  readonly focused?: boolean;
}

/** Label and input. */
export function TextField(props: TextFieldProps): JSX.Element {
  return (
    <div class="field">
      <label for={props.name}>{props.label}</label>
      <input
        id={props.name}
        name={props.name}
        type={props.type ?? "text"}
        inputmode={props.inputmode ?? "text"}
        autocomplete={props.autocomplete}
        autocapitalize="none"
        spellcheck={false}
        dir="ltr"
        maxlength={props.maxlength}
        required
        aria-describedby={props.describedBy}
        {...(props.value === undefined ? {} : { value: props.value })}
        {...(props.wrong ? { "aria-invalid": "true" } : {})}
        {...(props.focused === true ? { autofocus: true } : {})}
      />
    </div>
  );
}
