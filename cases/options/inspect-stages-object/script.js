export const options = { stages: { duration: '10s', target: 1 } };
export default function () {}
