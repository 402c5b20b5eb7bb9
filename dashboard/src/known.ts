/** Values of enums: answers may hold `OTHER`, what a newer version of the service wrote; what is sent may not. */

type Known<Value extends string> = Exclude<Value, 'OTHER'>;

export const isKnown = <Value extends string>(value: Value): value is Known<Value> => value !== 'OTHER';

/** For a form that saves what it was given: the server refuses the unknown value, so that saving never changes it. */
export const asSent = <Value extends string>(value: Value): Known<Value> => value as Known<Value>;
