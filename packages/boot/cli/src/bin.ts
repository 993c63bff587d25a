#!/usr/bin/env node
// The `dsh` executable: nothing but the hand-over of arguments.
import { main } from './main.ts'

void main(process.argv.slice(2))
