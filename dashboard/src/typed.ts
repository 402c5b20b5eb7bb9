/** Whether the page holds something that a person has typed and not yet sent. */

const touched = new Set<Element>();

type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** Listens to the fields of forms from now on. Returns what ends it. */
export function watchTyping(): () => void {
  const note = ({ target }: Event) => {
    if (target instanceof Element && (target.closest('form, dialog') !== null || target.matches('textarea')))
      touched.add(target);
  };
  addEventListener('input', note, { capture: true });
  return () => removeEventListener('input', note, { capture: true });
}

/** True: a field that a person has changed is still on the page, and not empty. */
export function holdsTyping(): boolean {
  // A page out of sight keeps its fields outside of the document.
  for (const field of touched) if (!field.isConnected && field.closest('.kept-page') === null) touched.delete(field);
  return [...touched].some((field) => (field as Field).value !== '');
}
