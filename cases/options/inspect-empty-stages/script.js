export const options = { stages: [] };
export default function () {}
