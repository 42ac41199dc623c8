export const options = { stages: [{ duration: '20s', target: 3 }] };
export default function () {}
