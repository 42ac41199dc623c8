export const options = { stages: [{ duration: '1s', target: 1, goal: 5 }] };
export default function () {}
