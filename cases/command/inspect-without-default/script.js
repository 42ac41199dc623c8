export const options = { vus: 3 };
export function run() {}
