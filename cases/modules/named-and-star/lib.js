export const a = 1;
export let b = 2;
export default function lib() { return 'lib'; }
