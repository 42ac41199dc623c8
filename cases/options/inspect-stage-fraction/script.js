export const options = { stages: [{ duration: '1s', target: 1.5 }] };
export default function () {}
