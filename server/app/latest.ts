/**
 * Makes something of a setting, and anew only when the setting has changed. Null makes null.
 */
export function latest<Setting extends object, Made>(make: (setting: Setting) => Made) {
  let last: { key: string; made: Made } | null = null;
  return (setting: Setting | null): Made | null => {
    if (setting === null) return null;
    const key = JSON.stringify(setting);
    if (last?.key !== key) last = { key, made: make(setting) };
    return last.made;
  };
}
