export const options = { vus: 'many' };
export default function () {}
