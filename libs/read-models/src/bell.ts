export { Bell } from '@rollcall/lifetimes';
