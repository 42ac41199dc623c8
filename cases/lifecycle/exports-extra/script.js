export const settings = { a: 1 };
export function helper() { return 5; }
export let counter = 0;
export const options = { iterations: 2 };
export default function () { counter += helper(); console.log(counter, settings.a); }
export { helper as alias };
