export const name = 'from lib';
export function unused() {}
