export const options = { tags: { from: 'script' } };
export default function () {}
