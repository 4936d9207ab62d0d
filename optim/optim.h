#pragma once

/// All optimizers, learning-rate schedulers and gradient clipping.
#include <halfgrad/optim/adadelta.h>
#include <halfgrad/optim/adagrad.h>
#include <halfgrad/optim/adam.h>
#include <halfgrad/optim/adamax.h>
#include <halfgrad/optim/adamw.h>
#include <halfgrad/optim/clip_grad.h>
#include <halfgrad/optim/lamb.h>
#include <halfgrad/optim/lbfgs.h>
#include <halfgrad/optim/lion.h>
#include <halfgrad/optim/lr_scheduler.h>
#include <halfgrad/optim/muon.h>
#include <halfgrad/optim/nadam.h>
#include <halfgrad/optim/one_cycle_lr.h>
#include <halfgrad/optim/optimizer.h>
#include <halfgrad/optim/radam.h>
#include <halfgrad/optim/reduce_lr_on_plateau.h>
#include <halfgrad/optim/rmsprop.h>
#include <halfgrad/optim/sgd.h>
